-- Debugging vISA kernels in Neovim with nvim-dap. Put this file into the folder `lua` of your configuration and write
--   require('visa-dap').setup()
-- in init.lua, behind what sets nvim-dap up. Options: command (list of strings). `:DapContinue` in a text, an object or a launch
-- file then offers to debug it. In the console (`:DapToggleRepl`) an expression is shown, and `V32[3] = 7` writes.

local M = {}

function M.setup(options)
  local dap = require('dap')
  local command = (options and options.command) or { 'visa-lsp' }
  local args = vim.list_extend(vim.list_slice(command, 2), { 'dap' })
  dap.adapters.visa = { type = 'executable', command = command[1], args = args }
  local configurations = {
    { type = 'visa', request = 'launch', name = 'Debug this kernel', program = '${file}', stopOnEntry = true },
    { type = 'visa', request = 'launch', name = 'Run this kernel to its first fault', program = '${file}' },
    {
      type = 'visa',
      request = 'launch',
      name = 'Debug one work item',
      program = '${file}',
      stopOnEntry = true,
      thread = function()
        return 'item ' .. vim.fn.input('Global id: ', '0,0,0')
      end,
    },
  }
  for _, filetype in ipairs({ 'visa', 'yaml.visa-launch' }) do
    dap.configurations[filetype] = configurations
  end
end

return M
