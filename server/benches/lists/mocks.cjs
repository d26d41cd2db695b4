// Starts a mock server as a library, because its command has no option to leave out what it does for each call:
// the log (Mockoon), the indentation and the checksum of the answer (json-server). `node mocks.cjs PACKAGE PORT`.
const { readFileSync } = require('node:fs');

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const [name, port] = process.argv.slice(2);

if (name.startsWith('@mockoon/')) {
  const { EnvironmentSchema, repairRefs } = require('@mockoon/commons');
  const { MockoonServer } = require('@mockoon/commons-server');
  const environment = repairRefs(EnvironmentSchema.validate(read('mockoon.json')).value);
  // Keeping one call is the least that it can be told.
  const options = { enableAdminApi: false, disableTls: true, maxTransactionLogs: 1 };
  new MockoonServer({ ...environment, port: Number(port), hostname: '127.0.0.1' }, options).start();
} else {
  const { create, rewriter, router } = require('json-server');
  const server = create().set('json spaces', 0).set('etag', false).disable('x-powered-by');
  server.use(rewriter(read('routes.json')), router(read('db.json')));
  server.listen(Number(port), '127.0.0.1');
}
