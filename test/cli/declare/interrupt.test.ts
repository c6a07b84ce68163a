import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../../src/cli/main.ts'
import { json } from '../../fake-hosted.ts'
import { memoryIo } from '../memory-io.ts'
import { folder, installHooks, service, toService } from '../other-service.ts'

installHooks()

test('Ctrl-C while a change is on its way says that it is waited for, and how to leave', async () => {
  const abort = new AbortController()
  service.always((request, response) => {
    if (request.method === 'PUT') abort.abort()
    const data = { id: 1, slug: 'acme', name: 'Old' }
    return json(200, { status: 'success', message: 'OK', data })(request, response)
  })
  writeFileSync(join(folder.path, 'org.yaml'), 'svc: 1\norganization: { slug: acme, name: New }\n')
  const io = Object.assign(memoryIo({ cwd: folder.path, env: toService() }), { signal: abort.signal })
  expect(await run(['apply', '-f', 'org.yaml', '--yes'], io)).toBe(0)
  expect(io.err()).toContain('Finishing the requests in progress. Press Ctrl-C again to stop at once')
})
