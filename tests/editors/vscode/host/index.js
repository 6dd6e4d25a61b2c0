// The tests that share a folder, in the order of their rooms; each prints one JSON line.

const { runner } = require('./shared.js');

exports.run = runner(Object.assign({}, ...['basics', 'launch', 'sources', 'calm', 'embedded'].map((room) => require(`./${room}.js`))));
