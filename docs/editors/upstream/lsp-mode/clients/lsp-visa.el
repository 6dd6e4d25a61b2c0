;;; lsp-visa.el --- vISA assembly client settings  -*- lexical-binding: t; -*-

;; Keywords: languages, lsp, visa
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; LSP client for vISA, the virtual instruction set of Intel GPUs, and for the launch files of its simulator:
;; https://github.com/OWNER/REPOSITORY.  Files are known by their names, whatever their major mode is.

;;; Code:

(require 'lsp-mode)

(defgroup lsp-visa nil
  "LSP support for vISA assembly, with visa-lsp."
  :group 'lsp-mode
  :link '(url-link "https://github.com/OWNER/REPOSITORY")
  :package-version '(lsp-mode . "9.0.1"))

(defcustom lsp-visa-command '("visa-lsp")
  "The language server: program and arguments."
  :type '(repeat string)
  :group 'lsp-visa
  :package-version '(lsp-mode . "9.0.1"))

(defcustom lsp-visa-platform ""
  "Platform to check for, \"TGLLP\" for example; empty for none."
  :type 'string
  :group 'lsp-visa
  :package-version '(lsp-mode . "9.0.1"))

(defcustom lsp-visa-ignore []
  "Findings not to report: codes, heads of codes or names."
  :type 'lsp-string-vector
  :group 'lsp-visa
  :package-version '(lsp-mode . "9.0.1"))

(lsp-register-custom-settings
 '(("visa.platform" lsp-visa-platform)
   ("visa.ignore" lsp-visa-ignore)))

(add-to-list 'lsp-language-id-configuration '("\\.\\(?:visaasm\\|isaasm\\)\\'" . "visa"))
(add-to-list 'lsp-language-id-configuration '("\\.launch\\.ya?ml\\'" . "visa-launch"))

(lsp-register-client
 (make-lsp-client
  :new-connection (lsp-stdio-connection (lambda () lsp-visa-command))
  :activation-fn (lsp-activate-on "visa" "visa-launch")
  :initialized-fn (lambda (workspace)
                    (with-lsp-workspace workspace
                      (lsp--set-configuration (lsp-configuration-section "visa"))))
  :priority -1
  :server-id 'visa-lsp))

(lsp-consistency-check lsp-visa)

(provide 'lsp-visa)
;;; lsp-visa.el ends here
