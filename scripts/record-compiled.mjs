import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Records in `file` the code that V8 compiled for typical short commands, for `bin/load.js`. The commands talk to a server
 * here that answers every request with an empty list.
 */
export const recordCompiled = async (file) => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"status":"success","message":"","data":[]}')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'svc-build-'))
  try {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('record-child.cjs', import.meta.url)), file],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: {
          SVC_BASE_URL: `http://127.0.0.1:${server.address().port}/admin/public/api`,
          SVC_API_KEY: 'recorded',
          SVC_CONFIG_DIR: folder,
        },
      },
    )
    const code = await new Promise((resolve) => child.on('close', resolve))
    if (code !== 0) throw new Error(`recording the compiled code ended with ${code}`)
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
