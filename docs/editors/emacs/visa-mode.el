;;; visa-mode.el --- vISA assembly, with eglot  -*- lexical-binding: t -*-

;; Emacs 28 and later with eglot (part of Emacs 29; before that from ELPA, Debian: elpa-eglot).
;; Put this file on the load path and write in your init file:
;;
;;   (require 'visa-mode)
;;   (add-hook 'visa-mode-hook #'eglot-ensure)
;;
;; Launch files (NAME.launch.yaml) have a mode of their own, `visa-launch-mode', in which eglot starts with
;;
;;   (add-hook 'visa-launch-mode-hook #'eglot-ensure)
;;
;; For vISA in the strings of other languages, where no other server is wanted in those modes:
;;
;;   (visa-embed-in 'c-mode 'c++-mode 'python-mode)
;;   (add-hook 'c-mode-hook #'eglot-ensure)
;;
;; `visa-lsp-command' says which server is started, `visa-platform' what texts are checked for.

;;; Code:

(require 'eglot)

(defgroup visa nil "Assembly for Intel's virtual instruction set." :group 'languages)

(defcustom visa-lsp-command '("visa-lsp")
  "The language server: program and arguments."
  :type '(repeat string))

(defcustom visa-platform ""
  "Platform to check for, \"TGLLP\" for example; empty for none."
  :type 'string)

(defvar visa-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (dolist (char '(?_ ?% ?$ ?@ ??))
      (modify-syntax-entry char "_" table))
    table))

(defconst visa-font-lock-keywords
  '(("^\\s-*\\(\\.[A-Za-z_]+\\)" 1 font-lock-preprocessor-face)
    ("^\\([A-Za-z_$@?][A-Za-z0-9_$@?-]*\\)\\s-*:\\s-*\\(?:$\\|//\\)" 1 font-lock-function-name-face)
    ("^\\s-*\\(?:([^)]*)\\s-*\\)?\\([a-z][a-z0-9_]*\\)\\(?:[ .(]\\|$\\)" 1 font-lock-keyword-face)
    ("\\_<M[1-8]\\(?:_NM\\)?\\_>\\|\\_<NoMask\\_>" . font-lock-constant-face)
    ("%[A-Za-z_][A-Za-z0-9_]*" . font-lock-builtin-face)
    (":\\([a-z]+\\)\\_>" 1 font-lock-type-face)
    ("\\_<type=\\([a-z]+\\)" 1 font-lock-type-face)))

;;;###autoload
(define-derived-mode visa-mode prog-mode "vISA"
  "Major mode for vISA assembly."
  (setq-local comment-start "// " comment-end "")
  (setq-local font-lock-defaults '(visa-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.\\(?:visaasm\\|isaasm\\)\\'" . visa-mode))

(defconst visa-launch-font-lock-keywords
  '(("\\(?:^\\|[{,]\\)[ \t]*\\(?:- +\\)*\\([A-Za-z_][A-Za-z0-9_.-]*\\) *:\\(?:[ \t]\\|$\\)" 1 font-lock-variable-name-face)))

;;;###autoload
(define-derived-mode visa-launch-mode prog-mode "vISA launch"
  "Major mode for launch files, which are YAML."
  (setq-local comment-start "# " comment-end "" indent-tabs-mode nil)
  (modify-syntax-entry ?# "<" visa-launch-mode-syntax-table)
  (modify-syntax-entry ?\n ">" visa-launch-mode-syntax-table)
  (dolist (char '(?_ ?-))
    (modify-syntax-entry char "_" visa-launch-mode-syntax-table))
  (setq-local font-lock-defaults '(visa-launch-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.launch\\.ya?ml\\'" . visa-launch-mode))

(defun visa--contact (&rest _)
  "What eglot is to start."
  visa-lsp-command)

(add-to-list 'eglot-server-programs '((visa-mode visa-launch-mode) . visa--contact))

(defun visa-embed-in (&rest modes)
  "Have eglot start the server in MODES too, for the vISA in strings of their languages.
Eglot has one server for a buffer: this one answers inside of such strings alone."
  (add-to-list 'eglot-server-programs (cons modes #'visa--contact)))

;; The settings are asked for by the server; folders may add their own in .dir-locals.el.
(setq-default eglot-workspace-configuration
              (append (bound-and-true-p eglot-workspace-configuration)
                      `((:visa . (:platform ,visa-platform)))))

(defun visa--call (command &rest options)
  "Call COMMAND of the server on this buffer's text, with OPTIONS; gives its answer."
  (let ((argument (append (list :uri (eglot--path-to-uri (buffer-file-name))) options)))
    (jsonrpc-request (eglot--current-server-or-lose) :workspace/executeCommand
                     (list :command command :arguments (vector argument)) :timeout 120)))

(defun visa-assemble ()
  "Write the object of this text beside it."
  (interactive)
  (let ((answer (visa--call "visa.assemble")))
    (message "%s" (if (eq (plist-get answer :ok) t) (concat "wrote " (plist-get answer :path)) (plist-get answer :error)))
    answer))

(defun visa-run (&optional launch)
  "Run this text as its launch file says, or LAUNCH, and show the buffers."
  (interactive)
  (let ((answer (apply #'visa--call "visa.run" (and launch (list :launch launch)))))
    (with-current-buffer (get-buffer-create "*visa run*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (if (plist-get answer :kernel) (format "kernel %s\n" (plist-get answer :kernel))
                  (format "%s\n" (plist-get answer :error))))
        (seq-doseq (b (plist-get answer :buffers))
          (insert (format "%s %s: %s\n" (plist-get b :title) (plist-get b :dtype)
                          (mapconcat (lambda (v) (format "%s" v)) (plist-get b :head) ", "))))
        (seq-doseq (e (plist-get answer :expectations))
          (insert (format "expect %s: %s\n" (plist-get e :arg) (plist-get e :message))))
        (seq-doseq (f (plist-get answer :faults))
          (insert (format "fault: %s\n" (plist-get f :text)))))
      (special-mode)
      (unless noninteractive (display-buffer (current-buffer))))
    answer))

(defun visa-gen ()
  "List the machine code of this text, with Intel's finalizer: a finding or a Gen instruction a line.
`next-error' leads through the lines of the text."
  (interactive)
  (let ((answer (visa--call "visa.gen"))
        (file (buffer-file-name)))
    (with-current-buffer (get-buffer-create "*visa gen*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (unless (eq (plist-get answer :ok) t) (insert (format "%s\n" (plist-get answer :error))))
        (seq-doseq (f (plist-get answer :findings))
          (insert (format "%s:%d:%d: %s: %s\n" file (plist-get f :line) (plist-get f :column)
                          (plist-get f :severity) (plist-get f :message))))
        (seq-doseq (k (plist-get answer :kernels))
          (insert (format "%s: %s Gen instructions\n" (plist-get k :name) (plist-get k :gen_instructions)))
          (seq-doseq (l (plist-get k :lines))
            (seq-doseq (g (plist-get l :gen))
              (insert (format "%s:%d: %s\n" file (plist-get l :line) g))))))
      (compilation-mode)
      (unless noninteractive (display-buffer (current-buffer))))
    answer))

(defun visa-read-jump ()
  "Go to the first line of vISA behind the line of C at point."
  (interactive)
  (let ((line (get-text-property (line-beginning-position) 'visa-line))
        (text (bound-and-true-p visa-read--text)))
    (when (and line (buffer-live-p text))
      (pop-to-buffer text)
      (goto-char (point-min))
      (forward-line (1- line)))))

(defvar visa-read-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'visa-read-jump)
    map)
  "Keys in the buffer of `visa-read'.")

(defun visa-read ()
  "Show the kernels of this text as C in a buffer beside it; RET goes to the line of vISA."
  (interactive)
  (let ((answer (visa--call "visa.read"))
        (text (current-buffer)))
    (with-current-buffer (get-buffer-create "*visa read*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (unless (eq (plist-get answer :ok) t) (insert (format "// %s\n" (plist-get answer :error))))
        (seq-doseq (kernel (plist-get answer :kernels))
          (seq-doseq (line (plist-get kernel :lines))
            (let ((visa (plist-get line :visa)))
              (insert (propertize (concat (plist-get line :text) "\n")
                                  'visa-line (and (> (length visa) 0) (elt visa 0))))))
          (insert "\n")))
      (delay-mode-hooks (c-mode))
      (setq-local visa-read--text text)
      (use-local-map (make-composed-keymap visa-read-map (current-local-map)))
      (setq buffer-read-only t)
      (unless noninteractive (display-buffer (current-buffer))))
    answer))

(provide 'visa-mode)
;;; visa-mode.el ends here
