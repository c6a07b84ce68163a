import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { checkCertificate } from '../../../src/cli/doctor/service.ts'
import { memoryIo } from '../memory-io.ts'
import { openContext } from '../../../src/cli/main.ts'

test('Ctrl-C stops the check of a certificate that never arrives', async () => {
  const abort = new AbortController()
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    abort.abort()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const env = { SVC_BASE_URL: `https://127.0.0.1:${port}/admin/public/api`, SVC_CONFIG_DIR: '/nonexistent' }
  const context = openContext(memoryIo({ env, signal: abort.signal }))
  await expect(checkCertificate(context)).rejects.toMatchObject({ exit: 'interrupted' })
  server.close()
})
