import { once } from 'node:events'
import { createServer } from 'node:https'
import { createConnection, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { redirectPlainHttp } from '../../../src/service/http/plain-on-tls.ts'
import { selfSigned } from '../../certificate.ts'

test.each([
  ['nothing', ''],
  ['a request drop by drop', 'GET / HTTP/1.1\r\nHost: a.example\r\nx-drop'],
])('closes a connection that sends %s until the deadline', async (_, bytes) => {
  const server = createServer(selfSigned(), (_request, response) => void response.end())
  redirectPlainHttp(server, { deadline: 100 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk)).on('error', () => undefined)
  socket.write(bytes)
  await once(socket, 'close')
  expect(answer).toBe('')
})
