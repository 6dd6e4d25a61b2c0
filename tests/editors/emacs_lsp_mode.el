;;; What the test does in Emacs with lsp-mode; the client is docs/editors/upstream/lsp-mode/clients/lsp-visa.el.  -*- lexical-binding: t -*-
;; Environment: VISA_LSP_COMMAND (JSON list), VISA_FILE, VISA_REPORT (where the report is written as JSON).

(package-initialize)
(require 'json)
(require 'lsp-mode)
(require 'lsp-diagnostics)
(require 'lsp-visa)

(setq lsp-visa-command (append (json-parse-string (getenv "VISA_LSP_COMMAND")) nil)
      lsp-visa-platform "TGLLP"
      lsp-auto-guess-root t lsp-enable-file-watchers nil lsp-restart 'ignore lsp-diagnostics-provider :none
      lsp-session-file (expand-file-name "session" (getenv "HOME")))

(defvar seen nil)
(defun note (key value) (push (cons key value) seen))
(defun wait-for (what look)
  (let ((end (+ (float-time) 60)) value)
    (while (and (not (setq value (funcall look))) (< (float-time) end))
      (accept-process-output nil 0.05))
    (or value (error "Waited in vain for %s" what))))
(defun finding ()
  (let ((found (gethash (lsp--fix-path-casing (buffer-file-name)) (lsp-diagnostics t))))
    (and found (elt found 0))))
(defun code (found) (format "%s" (lsp-get found :code)))

(condition-case problem
    (progn
      (find-file (getenv "VISA_FILE"))
      (prog-mode)
      (lsp)
      (wait-for "a workspace" #'lsp-workspaces)
      (note 'code (code (wait-for "a finding" #'finding)))
      (note 'language (lsp-buffer-language))
      (goto-char (point-min))
      (search-forward "add (M1")
      (goto-char (1+ (match-beginning 0)))
      (note 'hover (lsp-get (lsp-get (lsp-request "textDocument/hover" (lsp--text-document-position-params)) :contents) :value))
      (note 'platform (gethash "platform" (gethash "visa" (lsp-configuration-section "visa"))))
      (find-file (expand-file-name "broken.launch.yaml" (file-name-directory (getenv "VISA_FILE"))))
      (prog-mode)
      (lsp)
      (note 'launch (code (wait-for "a finding in the launch file" #'finding)))
      (note 'ok t))
  (error (note 'ok (format "%S" problem))))
(with-temp-file (getenv "VISA_REPORT") (insert (json-encode seen)))
(kill-emacs 0)
