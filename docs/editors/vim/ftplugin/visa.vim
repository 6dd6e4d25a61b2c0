" Vim filetype plugin of vISA assembly, for Vim 8 and later and for Neovim; docs/editors/README.md says how to use it.

if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
let s:cpo = &cpo
set cpo&vim

setlocal comments=s1:/*,mb:*,ex:*/,://
setlocal commentstring=//\ %s
" Names may hold $, @ and ?; predefined variables begin with %.
setlocal iskeyword=@,48-57,_,$,%,?,@-@

let b:undo_ftplugin = 'setlocal comments< commentstring< iskeyword<'
let &cpo = s:cpo
unlet s:cpo
