-- vISA assembly in Neovim (0.7 and later). Put this file into the folder `lua` of your configuration and write
--   require('visa').setup()
-- in init.lua. Options: cmd (list of strings), settings ({ platform = 'TGLLP' }), on_attach (function).
-- It gives the file type, the language server, which knows launch files (*.launch.yaml) too, and the commands :VisaAssemble,
-- :VisaRun [LAUNCH FILE] and :VisaGen, which puts the machine code into the location list (with Intel's finalizer).

local M = {}

local defaults = { cmd = { 'visa-lsp' }, settings = {} }

local function root_of(path)
  local found = vim.fs and vim.fs.find({ '.git', 'visa-lsp.toml', 'pyproject.toml' }, { upward = true, path = path })
  local marker = found and found[1]
  return marker and vim.fn.fnamemodify(marker, ':h') or path
end

-- Calls a command of the server on the current buffer's text and gives its answer to a function.
local function call(command, argument, done)
  local buffer = vim.api.nvim_get_current_buf()
  argument.uri = vim.uri_from_bufnr(buffer)
  local params = { command = command, arguments = { argument } }
  return vim.lsp.buf_request(buffer, 'workspace/executeCommand', params, function(err, result)
    done(err and { ok = false, error = err.message } or result)
  end)
end

local function say(lines, ok)
  vim.notify(table.concat(lines, '\n'), ok and vim.log.levels.INFO or vim.log.levels.ERROR)
end

function M.assemble(done)
  return call('visa.assemble', {}, done or function(result)
    say({ result.ok and ('wrote ' .. result.path) or result.error }, result.ok)
  end)
end

function M.run(launch, done)
  return call('visa.run', { launch = launch }, done or function(result)
    local lines = { result.kernel and ('kernel ' .. result.kernel) or result.error }
    for _, buffer in ipairs(result.buffers or {}) do
      local head = {}
      for _, value in ipairs(buffer.head) do
        table.insert(head, tostring(value))
      end
      table.insert(lines, ('arg %s %s: %s'):format(buffer.title, buffer.dtype, table.concat(head, ', ')))
    end
    for _, expectation in ipairs(result.expectations or {}) do
      table.insert(lines, ('expect arg %s: %s'):format(expectation.arg, expectation.ok and 'holds' or expectation.message))
    end
    for _, fault in ipairs(result.faults or {}) do
      table.insert(lines, 'fault: ' .. fault.text)
    end
    say(lines, result.ok)
  end)
end

-- The machine code of the text as a location list: a finding or a Gen instruction for each entry, at the line that it is of.
function M.gen(done)
  local buffer, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  return call('visa.gen', {}, function(result)
    local items, titles = {}, {}
    for _, finding in ipairs(result.findings or {}) do
      local kind = finding.severity == 'error' and 'E' or 'W'
      table.insert(items, { bufnr = buffer, lnum = finding.line, col = finding.column, type = kind, text = finding.message })
    end
    for _, kernel in ipairs(result.kernels or {}) do
      table.insert(titles, kernel.name .. ': ' .. result.figures[kernel.name])
      for _, line in ipairs(kernel.lines) do
        for _, gen in ipairs(line.gen) do
          table.insert(items, { bufnr = buffer, lnum = line.line, text = gen })
        end
      end
    end
    vim.fn.setloclist(window, {}, ' ', { title = table.concat(titles, '; '), items = items })
    if done then
      done(result)
    elseif #items == 0 then
      say({ result.error or 'no machine code' }, false)
    else
      vim.cmd('lopen')
    end
  end)
end

function M.setup(options)
  options = vim.tbl_extend('force', defaults, options or {})
  vim.cmd([[
    augroup visa_filetype
      autocmd!
      autocmd BufRead,BufNewFile *.visaasm,*.isaasm setfiletype visa
      autocmd BufRead,BufNewFile *.launch.yaml,*.launch.yml set filetype=yaml.visa-launch
    augroup END
  ]])
  local function attach(buffer)
    if vim.bo[buffer].filetype == 'visa' then
      vim.api.nvim_buf_set_option(buffer, 'commentstring', '// %s')
    end
    local path = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':p:h')
    local config = {
      name = 'visa-lsp',
      cmd = options.cmd,
      root_dir = root_of(path),
      settings = { visa = options.settings },
      on_init = function(client)
        client.notify('workspace/didChangeConfiguration', { settings = { visa = options.settings } })
      end,
      on_attach = options.on_attach,
    }
    if vim.lsp.start then
      vim.lsp.start(config, { bufnr = buffer })
      return
    end
    -- Neovim 0.7 has no vim.lsp.start: one client serves all buffers.
    M.client = M.client or vim.lsp.start_client(config)
    vim.lsp.buf_attach_client(buffer, M.client)
  end
  vim.api.nvim_create_autocmd('FileType', {
    pattern = { 'visa', '*.visa-launch', 'visa-launch' },
    callback = function(event)
      attach(event.buf)
    end,
  })
  vim.api.nvim_create_user_command('VisaAssemble', function()
    M.assemble()
  end, {})
  vim.api.nvim_create_user_command('VisaGen', function()
    M.gen()
  end, {})
  vim.api.nvim_create_user_command('VisaRun', function(command)
    M.run(command.args ~= '' and command.args or nil)
  end, { nargs = '?', complete = 'file' })
end

return M
