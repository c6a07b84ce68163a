import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { folder, installHooks, run, service } from '../other-service.ts'

installHooks()

test('Ctrl-C during a change says that svc finishes the request, and how to stop at once', async () => {
  const abort = new AbortController()
  service.always((request, response) => {
    if (request.method === 'PUT') abort.abort()
    const data = { id: 1, slug: 'acme', name: 'Old' }
    return json(200, { status: 'success', message: 'OK', data })(request, response)
  })
  writeFileSync(join(folder.path, 'org.yaml'), 'svc: 1\norganization: { slug: acme, name: New }\n')
  const { exit, err } = await run('apply org.yaml --yes', { signal: abort.signal })
  expect(exit).toBe(0)
  expect(err).toContain('Finishing the requests in progress. Press Ctrl-C again to stop immediately')
})
