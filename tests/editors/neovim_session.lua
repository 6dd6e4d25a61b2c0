-- What the test does in Neovim: wait for the finding, hover, jump, run. Reports what it saw.
local seen = { steps = {} }
local LONG = 120000 -- a machine may be busy with other tests

local function find(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then
      return { number, column - 1 }
    end
  end
  error('no line with ' .. text)
end

local function request(method, place, more)
  vim.api.nvim_win_set_cursor(0, place)
  local params = vim.tbl_extend('force', vim.lsp.util.make_position_params(0, seen.encoding), more or {})
  local answers = vim.lsp.buf_request_sync(0, method, params, LONG)
  for _, answer in pairs(answers or {}) do
    if answer.result then
      return answer.result
    end
  end
end

local function jump(text, target)
  vim.api.nvim_win_set_cursor(0, find(text))
  vim.lsp.buf.definition()
  local wanted = find(target)[1]
  assert(vim.wait(LONG, function()
    return vim.api.nvim_win_get_cursor(0)[1] == wanted
  end, 20), 'no jump to ' .. target)
  return vim.api.nvim_win_get_cursor(0)[1]
end

local function diagnostics()
  local list = {}
  for _, item in ipairs(vim.diagnostic.get(0)) do
    table.insert(list, { line = item.lnum + 1, column = item.col, code = item.code, message = item.message })
  end
  return list
end

local ok, err = pcall(function()
  assert(vim.wait(LONG, function()
    local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
    for _, client in pairs(clients) do
      seen.encoding = client.offset_encoding
      return client.initialized == nil or client.initialized
    end
  end, 20), 'no client')
  seen.filetype = vim.bo.filetype
  assert(vim.wait(LONG, function()
    return #vim.diagnostic.get(0) > 0
  end, 20), 'no finding')
  seen.findings = diagnostics()
  -- The user mends the line; the finding goes.
  local broken = find('madd (M1')
  vim.api.nvim_buf_set_text(0, broken[1] - 1, broken[2], broken[1] - 1, broken[2] + 4, { 'mad' })
  assert(vim.wait(LONG, function()
    return #vim.diagnostic.get(0) == 0
  end, 20), 'the finding stays')
  seen.mended = true
  seen.hover_mad = request('textDocument/hover', find('mad (M1')).contents.value
  seen.hover_r0 = request('textDocument/hover', find('%r0, 0')).contents.value
  seen.decl_line = jump('V0061(0,0)<1;1,0>', '.decl V0061')
  seen.label_line = jump('_0_004      ', '_0_004:')
  local visa = require('visa')
  local answer
  visa.run(nil, function(result)
    answer = result
  end)
  assert(vim.wait(LONG, function()
    return answer ~= nil
  end, 20), 'no answer of the run')
  seen.run = answer
  local written
  visa.assemble(function(result)
    written = result
  end)
  assert(vim.wait(LONG, function()
    return written ~= nil
  end, 20), 'no answer of the assembler')
  seen.assembled = written
  local made
  visa.gen(function(result)
    made = result
  end)
  assert(vim.wait(LONG, function()
    return made ~= nil
  end, 20), 'no machine code')
  seen.gen = {}
  for _, item in ipairs(vim.fn.getloclist(0)) do
    table.insert(seen.gen, { line = item.lnum, text = item.text })
  end
  seen.gen_title = vim.fn.getloclist(0, { title = 0 }).title
  local text = vim.api.nvim_get_current_win()
  local function answer_of(name, argument)
    local told
    visa[name](argument, function(result)
      told = result
    end)
    assert(vim.wait(LONG, function()
      return told ~= nil
    end, 20), 'no answer of ' .. name)
    return { ok = told.ok, error = told.error, list = vim.fn.getloclist(text), title = vim.fn.getloclist(text, { title = 0 }).title }
  end
  seen.why = answer_of('why', 'y[1]')
  seen.prove = answer_of('prove', { properties = 'divergence' })
  seen.read = answer_of('read', 'saxpy')
  seen.read.lines = vim.api.nvim_buf_get_lines(0, 0, 1, false)
  vim.cmd('close')
  seen.completed = {}
  for _, typed in ipairs({ 'VisaProve b', 'VisaRead s', 'VisaWhy y' }) do
    local found = {}
    for _ = 1, 24 do -- while somebody types, an answer is waited for no longer than five seconds
      found = #found > 0 and found or vim.fn.getcompletion(typed, 'cmdline')
    end
    table.insert(seen.completed, found)
  end
  if vim.fn.has('nvim-0.11') == 1 then
    -- Two lines out of shape, and another one that is not asked for: ranges of lines, as of a diff.
    seen.shape = { before = vim.api.nvim_buf_get_lines(0, 0, -1, false) }
    local ranges = {}
    for _, words in ipairs({ '.decl V0061', '_main_0:', 'ret (M1' }) do
      local line = find(words)[1]
      vim.api.nvim_buf_set_text(0, line - 1, 0, line - 1, 0, { '  ' })
      table.insert(ranges, { start = { line, 0 }, ['end'] = { line, 4 } })
    end
    vim.lsp.buf.format({ range = { ranges[1], ranges[3] }, timeout_ms = LONG })
    seen.shape.after = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  end
  -- A broken launch file: a window of its own, the same server.
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.fn.expand('%:p:h') .. '/broken.launch.yaml'))
  assert(vim.wait(LONG, function()
    return #vim.diagnostic.get(0) > 0
  end, 20), 'no finding in the launch file')
  seen.launch = { filetype = vim.bo.filetype, findings = diagnostics() }
end)
seen.ok = ok
seen.error = not ok and tostring(err) or nil
report(seen)
vim.cmd('qa!')
