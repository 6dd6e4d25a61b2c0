---@brief
---
--- https://github.com/OWNER/REPOSITORY
---
--- Language server for vISA, the virtual instruction set of Intel GPUs, and for the launch files of its simulator.
---
--- `visa-lsp` can be installed via `pip`:
--- ```sh
--- pip install 'visa-lsp[run]'
--- ```
---
--- Launch files are YAML; to have them checked, too:
--- ```lua
--- vim.filetype.add({ pattern = { ['.*%.launch%.ya?ml'] = 'yaml.visa-launch' } })
--- ```

---@type vim.lsp.Config
return {
  cmd = { 'visa-lsp' },
  filetypes = { 'visa', 'yaml.visa-launch' },
  root_markers = { 'visa-lsp.toml', 'pyproject.toml', '.git' },
  settings = {
    visa = {
      platform = '',
    },
  },
}
