import { expect, test } from 'vitest'
import { kindOf } from '../../../src/cli/guard/ssh.ts'
import { harmfulNames } from '../../../src/cli/guard/trust.ts'

test.each([
  [undefined, 'shell'],
  ['', 'shell'],
  ['ls', 'command'],
  ['internal-sftp', 'sftp'],
  ['/usr/lib/openssh/sftp-server; reboot', 'command'],
  ['sftp-server $(reboot)', 'command'],
  ['sftp-server\nreboot', 'command'],
  ['scp -t /etc', 'command'],
  ['./not-sftp-server', 'command'],
  ['./sftp-server', 'command'],
  ['sftp-server', 'command'],
  ['/tmp/sftp-server', 'command'],
  ['/usr/lib/../../tmp/sftp-server', 'command'],
])('what a client requests with %j is a %s', (command, kind) => {
  expect(kindOf(command)).toBe(kind)
})

test('variables that load code or change trust are found, and others are not', () => {
  const harmful = ['LD_PRELOAD', 'NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'OPENSSL_CONF', 'SSL_CERT_FILE']
  const env = Object.fromEntries([...harmful, 'PATH', 'NODE_ENV', 'HTTPS_PROXY'].map((name) => [name, 'x']))
  expect(harmfulNames({ ...env, NODE_PATH: '' })).toEqual(harmful)
})
