-- vISA assembly in Neovim (0.7 and later). Put this file into the folder `lua` of your configuration and write
--   require('visa').setup()
-- in init.lua. Options: cmd (list of strings), settings ({ platform = 'TGLLP' }), on_attach (function), embedded (true: also for
-- vISA in the strings of OpenCL, C, C++ and Python, beside the servers of those languages; :VisaBlock then opens the block under
-- the cursor as a text of its own, and :w writes it back into the string).
-- It gives the file type, the language server, which knows launch files (*.launch.yaml) too, and the commands
--   :VisaAssemble
--   :VisaRun [LAUNCH FILE]
--   :VisaGen                                 the machine code (with Intel's finalizer)
--   :VisaProve [PROPERTY...] [; CONDITION]...  what is not proved of every launch; a launch that refutes is a file for :VisaRun
--   :VisaWhy [ELEMENT]                       what made an element such as y[37]; else the first failure
--   :VisaRead [KERNEL]                       pseudo-code, in a window of its own
-- All complete their arguments. Gen, Prove and Why fill the location list.

local M = {}

local defaults = { cmd = { 'visa-lsp' }, settings = {}, embedded = false }
local hosts = { 'opencl', 'c', 'cpp', 'python' }

local function root_of(path)
  local found = vim.fs and vim.fs.find({ '.git', 'visa-lsp.toml', 'pyproject.toml' }, { upward = true, path = path })
  local marker = found and found[1]
  return marker and vim.fn.fnamemodify(marker, ':h') or path
end

-- Our client of a buffer: another server may be there for the language around the vISA.
local function own(buffer)
  local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = buffer }) or vim.lsp.buf_get_clients(buffer)
  for _, client in pairs(clients) do
    if client.name == 'visa-lsp' then
      return client
    end
  end
end

-- Calls a command of the server on a buffer's text and gives its answer to a function.
local function call(command, argument, done, buffer)
  buffer = buffer or vim.api.nvim_get_current_buf()
  argument.uri = vim.uri_from_bufnr(buffer)
  local params = { command = command, arguments = { argument } }
  local client = own(buffer)
  if not client then
    return done({ ok = false, error = 'visa-lsp is not attached to this buffer' })
  end
  return client.request('workspace/executeCommand', params, function(err, result)
    done(err and { ok = false, error = err.message } or result)
  end, buffer)
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
    for _, each in ipairs(result.launches or {}) do -- all launch files of the text ran; the rest is of the first that failed
      table.insert(lines, vim.fn.fnamemodify(each.launch, ':t') .. ': ' .. (each.ok and 'ok' or 'FAILED'))
    end
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

-- Puts items into the location list of a window and opens it, unless a function is to be called.
local function list(window, title, items, result, done, none)
  vim.fn.setloclist(window, {}, ' ', { title = title, items = items })
  if done then
    done(result)
  elseif not result.ok or #items == 0 then
    say({ result.error or none }, result.ok)
  else
    vim.cmd('lopen')
  end
end

-- What is not proved: an entry for each line, with the launch that refutes it as a file.
function M.prove(options, done)
  local buffer, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local argument = { properties = options.properties, assume = options.assume }
  return call('visa.prove', argument, function(result)
    local items, counts, folder = {}, {}, vim.fn.tempname()
    for _, one in ipairs(result.results or {}) do
      counts[one.answer] = (counts[one.answer] or 0) + 1
      if one.answer ~= 'proved' then
        local fault = one.faults and one.faults[1]
        local text = table.concat({ one.property, one.answer .. ':', fault and fault.message or one.reason or '' }, ' ')
        if one.launch then
          local file = ('%s/%s.%s.%d.launch.yaml'):format(folder, one.kernel:gsub('[^%w_.-]', '_'), one.property, one.line)
          vim.fn.mkdir(folder, 'p')
          vim.fn.writefile(vim.split(one.launch, '\n', { plain = true }), file)
          text = text .. ' (:VisaRun ' .. file .. ')'
        end
        local kind = one.answer == 'refuted' and 'W' or 'I'
        table.insert(items, { bufnr = buffer, lnum = one.line, type = kind, text = text })
      end
    end
    local title = {}
    for _, answer in ipairs({ 'proved', 'bounded', 'refuted', 'unknown' }) do
      if counts[answer] then
        table.insert(title, counts[answer] .. ' ' .. answer)
      end
    end
    title = table.concat(title, ', ')
    list(window, title, items, result, done, title ~= '' and title or 'nothing to prove')
  end)
end

-- What made an element of a buffer: an entry for each instruction, the nearest first.
function M.why(value, done)
  local buffer, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  return call('visa.why', { value = value }, function(result)
    local items = {}
    for _, node in ipairs(result.nodes or {}) do
      local words = { node.text }
      for name, held in pairs(node.values) do
        table.insert(words, name .. ' = ' .. (type(held) == 'table' and vim.inspect(held):gsub('%s+', ' ') or tostring(held)))
      end
      local line = node.line ~= vim.NIL and node.line or 0
      table.insert(items, { bufnr = buffer, lnum = line, text = table.concat(words, '  ') })
    end
    list(window, result.value or '', items, result, done, 'no cause')
  end)
end

-- The pseudo-code of a kernel, else of all, in a window of its own.
function M.read(kernel, done)
  return call('visa.read', {}, function(result)
    local lines = {}
    for _, one in ipairs(result.kernels or {}) do
      if not kernel or one.name == kernel then
        for _, line in ipairs(one.lines) do
          table.insert(lines, line.text)
        end
      end
    end
    if #lines > 0 then
      vim.cmd('vnew')
      vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
      vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
      vim.bo.filetype, vim.bo.modifiable = 'c', false
    end
    if done then
      done(result)
    elseif #lines == 0 then
      say({ result.error or 'there is no such kernel' }, false)
    end
  end)
end

-- The candidates that begin with what is typed.
local function beginning(lead, words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

local function complete_elements(lead)
  local client, words = own(0), {}
  local params = { command = 'visa.launchTemplate', arguments = { { uri = vim.uri_from_bufnr(0) } } }
  local answer = client and client.request_sync('workspace/executeCommand', params, 5000, 0)
  for _, argument in ipairs(answer and answer.result and answer.result.arguments or {}) do
    if argument.kind == 'buffer' or argument.kind == 'image' then
      table.insert(words, (argument.name ~= '' and argument.name or argument.index) .. '[0]')
    end
  end
  return beginning(lead, words)
end

local function complete_kernels(lead)
  local words = {}
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    table.insert(words, line:match('^%s*%.kernel%s+"?([^"%s]+)'))
  end
  return beginning(lead, words)
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
    list(window, table.concat(titles, '; '), items, result, done, 'no machine code')
  end)
end

-- The block under the cursor as a text in a window of its own. Writing it changes the string in the buffer that it came from.
function M.block(done)
  local host, line = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local function write(shown)
    local lines = vim.api.nvim_buf_get_lines(shown.buffer, 0, -1, false)
    local text = table.concat(lines, '\n') .. '\n'
    call('visa.writeBlock', { block = shown.block, before = shown.before, text = text }, function(result)
      if not result.ok then
        return say({ result.error }, false)
      end
      for _, edits in pairs(result.edit.changes) do
        vim.lsp.util.apply_text_edits(edits, host, own(host).offset_encoding)
      end
      if vim.lsp.handlers['textDocument/diagnostic'] then
        -- Neovim by itself asks anew only about the buffer in front.
        own(host).request('textDocument/diagnostic', { textDocument = { uri = vim.uri_from_bufnr(host) } }, nil, host)
      end
      shown.before = text
      vim.bo[shown.buffer].modified = false
    end, host)
  end
  return call('visa.openBlock', { line = line }, function(result)
    if result.ok then
      vim.cmd('split ' .. vim.fn.fnameescape(result.uri))
      local shown = { buffer = vim.api.nvim_get_current_buf(), block = result.block, before = result.text }
      vim.bo[shown.buffer].buftype, vim.bo[shown.buffer].bufhidden = 'acwrite', 'wipe'
      vim.api.nvim_buf_set_lines(shown.buffer, 0, -1, false, vim.split(result.text:gsub('\n$', ''), '\n', { plain = true }))
      vim.bo[shown.buffer].modified, vim.bo[shown.buffer].filetype = false, 'visa'
      vim.api.nvim_create_autocmd('BufWriteCmd', {
        buffer = shown.buffer,
        callback = function()
          write(shown)
        end,
      })
    end
    if done then
      done(result)
    elseif not result.ok then
      say({ result.error }, false)
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
  local patterns = { 'visa', '*.visa-launch', 'visa-launch' }
  if options.embedded then
    vim.list_extend(patterns, hosts)
  end
  vim.api.nvim_create_autocmd('FileType', {
    pattern = patterns,
    callback = function(event)
      attach(event.buf)
    end,
  })
  vim.api.nvim_create_user_command('VisaAssemble', function()
    M.assemble()
  end, {})
  vim.api.nvim_create_user_command('VisaBlock', function()
    M.block()
  end, {})
  vim.api.nvim_create_user_command('VisaGen', function()
    M.gen()
  end, {})
  vim.api.nvim_create_user_command('VisaRun', function(command)
    M.run(command.args ~= '' and command.args or nil)
  end, { nargs = '?', complete = 'file' })
  vim.api.nvim_create_user_command('VisaProve', function(command)
    local parts = vim.split(command.args, '%s*;%s*')
    local properties = table.concat(vim.split(vim.trim(parts[1]), '%s+'), ',')
    M.prove({ properties = properties ~= '' and properties or nil, assume = vim.list_slice(parts, 2) })
  end, {
    nargs = '*',
    complete = function(lead)
      return beginning(lead, { 'race', 'bounds', 'divergence', 'uninitialised' })
    end,
  })
  vim.api.nvim_create_user_command('VisaWhy', function(command)
    M.why(command.args ~= '' and command.args or nil)
  end, { nargs = '?', complete = complete_elements })
  vim.api.nvim_create_user_command('VisaRead', function(command)
    M.read(command.args ~= '' and command.args or nil)
  end, { nargs = '?', complete = complete_kernels })
end

return M
