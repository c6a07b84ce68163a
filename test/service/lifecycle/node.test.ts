import { expect, test } from 'vitest'
import { newestVersion } from '../../../src/service/storage/migrations.ts'
import { installHooks, portOf, start } from '../started.ts'

installHooks()

test('an embedded store has one node, which reports its load', async () => {
  const service = await start({ version: '1.2.3' })
  const answer = await fetch(new URL('/svc/v1/nodes', service.baseUrl), {
    headers: { 'x-api-key': service.operatorKey! },
  })
  expect(await answer.json()).toMatchObject({
    status: 'success',
    data: [
      {
        address: expect.stringMatching(new RegExp(`:${portOf(service)}$`)),
        state: 'serving',
        version: '1.2.3',
        schema_version: newestVersion(),
        requests: 1,
        waiting: 0,
        connections: 0,
        connections_limit: 0,
      },
    ],
  })
})
