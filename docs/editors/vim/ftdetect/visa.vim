" Texts of vISA assembly by their names.
autocmd BufRead,BufNewFile *.visaasm,*.isaasm setfiletype visa
