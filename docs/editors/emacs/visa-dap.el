;;; visa-dap.el --- Debugging vISA kernels, with dap-mode  -*- lexical-binding: t -*-

;; Put this file and visa-mode.el on the load path and write in your init file, behind what sets dap-mode up:
;;
;;   (require 'visa-dap)
;;
;; M-x dap-debug then offers "vISA kernel" and "vISA kernel, to its first fault" for the file of the buffer: a text, an object
;; or a launch file.  In the console an expression is shown, and `V32[3] = 7' writes.

;;; Code:

(require 'dap-mode)
(require 'dap-ui) ; dap-mode reads its list of exception filters, and does not load it
(require 'visa-mode)

(defun visa-dap--populate (configuration)
  "Say in CONFIGURATION which program is started, and for which file."
  (dap--put-if-absent configuration :dap-server-path (append visa-lsp-command '("dap")))
  (dap--put-if-absent configuration :program (buffer-file-name))
  (dap--put-if-absent configuration :cwd default-directory)
  configuration)

(dap-register-debug-provider "visa" #'visa-dap--populate)
(dap-register-debug-template "vISA kernel"
                             (list :type "visa" :request "launch" :name "vISA kernel" :stopOnEntry t))
(dap-register-debug-template "vISA kernel, to its first fault"
                             (list :type "visa" :request "launch" :name "vISA kernel, to its first fault"))

(provide 'visa-dap)
;;; visa-dap.el ends here
