-- vISA assembly in Neovim 0.11 and later, without any plugin. Put this file at ~/.config/nvim/lsp/visa.lua and write
--   vim.filetype.add({
--     extension = { visaasm = 'visa', isaasm = 'visa' },
--     pattern = { ['.*%.launch%.ya?ml'] = 'yaml.visa-launch' },
--   })
--   vim.lsp.enable('visa')
-- in init.lua. The commands :VisaRun, :VisaProve and the others are in visa.lua, which works here too.
return {
  cmd = { 'visa-lsp' },
  filetypes = { 'visa', 'yaml.visa-launch' },
  root_markers = { 'visa-lsp.toml', 'pyproject.toml', '.git' },
  settings = { visa = { platform = '' } },
}
