" Writes the name of the syntax group of every character of the text in front into the file $VISA_REPORT, line by line.
let s:groups = []
for s:line in range(1, line('$'))
  call add(s:groups, map(range(1, col([s:line, '$']) - 1), {_, column -> synIDattr(synID(s:line, column, 1), 'name')}))
endfor
let s:links = {}
for s:name in filter(getcompletion('visa', 'highlight'), {_, name -> synIDtrans(hlID(name)) != hlID(name)})
  let s:links[s:name] = synIDattr(synIDtrans(hlID(s:name)), 'name')
endfor
call writefile([json_encode({'filetype': &filetype, 'groups': s:groups, 'links': s:links})], $VISA_REPORT)
qall!
