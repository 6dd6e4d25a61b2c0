-- What the test does in Neovim with two servers on one buffer: findings, hover of both, a block opened, changed and written back.
local seen = { steps = {} }

local function find(text, buffer)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then
      return { number, column - 1 }
    end
  end
  error('no line with ' .. text)
end

local function hover(text)
  vim.api.nvim_win_set_cursor(0, find(text))
  local found = {}
  local params = vim.lsp.util.make_position_params(0, 'utf-16')
  for id, answer in pairs(vim.lsp.buf_request_sync(0, 'textDocument/hover', params, 20000) or {}) do
    local name = vim.lsp.get_client_by_id(id).name
    local contents = answer.result and answer.result.contents
    found[name] = contents and (type(contents) == 'table' and contents.value or contents) or false
  end
  return found
end

local ok, err = pcall(function()
  local host = vim.api.nvim_get_current_buf()
  assert(vim.wait(120000, function()
    return #vim.diagnostic.get(host) > 1
  end, 20), 'no findings of both servers')
  seen.findings = {}
  for _, item in ipairs(vim.diagnostic.get(host)) do
    table.insert(seen.findings, { line = item.lnum + 1, column = item.col, code = item.code, message = item.message })
  end
  seen.inside, seen.outside = hover('mul (M1'), hover('return')
  -- The block is opened, mended and written; the finding goes, and the host's own server is asked nothing.
  vim.api.nvim_win_set_cursor(0, find('nope'))
  require('visa').block(function(result)
    seen.opened = result.ok
    seen.error = result.error
  end)
  assert(vim.wait(120000, function()
    return vim.api.nvim_get_current_buf() ~= host
  end, 20), 'the block was not opened')
  local block = vim.api.nvim_get_current_buf()
  seen.block = vim.api.nvim_buf_get_lines(block, 0, -1, false)
  seen.filetype = vim.bo[block].filetype
  assert(vim.wait(120000, function()
    return #vim.diagnostic.get(block) > 0
  end, 20), 'no finding in the block')
  local place = find('nope', block)
  vim.api.nvim_buf_set_text(block, place[1] - 1, place[2], place[1] - 1, place[2] + 4, { 'value' })
  vim.api.nvim_buf_set_lines(block, place[1], place[1], false, { '// 100% "done"' })
  vim.cmd('write')
  assert(vim.wait(120000, function()
    return not vim.bo[block].modified
  end, 20), 'the block was not written')
  seen.host = vim.api.nvim_buf_get_lines(host, 0, -1, false)
  vim.wait(120000, function()
    return #vim.diagnostic.get(host) == 1
  end, 20)
  seen.left = {}
  for _, item in ipairs(vim.diagnostic.get(host)) do
    table.insert(seen.left, item.message)
  end
end)
seen.ok, seen.why = ok, err
report(seen)
vim.cmd('qall!')
