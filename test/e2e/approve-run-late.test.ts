import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import {
  begin,
  decide,
  env,
  installHooks,
  ok,
  path,
  requestLine,
  shellScript as script,
} from './approvals.ts'

installHooks()

/** A relay to the service. `swap` runs when an approval is used. */
const listen = async (swap: () => unknown) => {
  const { origin, pathname } = new URL(env['SVC_BASE_URL']!)
  const server = createServer((asked, answer) => {
    if (asked.url!.includes('/consume')) swap()
    const { method, headers } = asked
    const sent = request(`${origin}${asked.url}`, { method, headers }, (answered) => {
      answer.writeHead(answered.statusCode!, answered.headers)
      answered.pipe(answer)
    })
    asked.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { server, baseUrl: `http://127.0.0.1:${port}${pathname}` }
}

test.each([
  ['the program', () => [script('late.sh', 'good')], 'late.sh', 'Its content changed'],
  ['a script that did not exist', () => ['/bin/sh', path('new.sh')], 'new.sh', 'It did not exist'],
])('does not run when %s changed while the approval was used', async (_, command, name, how) => {
  const relay = await listen(() => script(name, 'evil'))
  try {
    const running = begin(['approve', 'run', '--', ...command()], { SVC_BASE_URL: relay.baseUrl })
    const id = (await running.printed(requestLine))[1]!
    await decide('approve', id)
    const { exit, stdout, stderr } = await running.ended
    expect({ exit, stdout }).toEqual({ exit: 101, stdout: '' })
    expect(stderr).toContain(`${path(name)} is not what was approved: nothing was run`)
    expect(stderr).toContain(`${how}`)
    expect(stderr).toContain('The approval was used up.')
    expect(await ok(['approve', 'status', id, '--jq', '.used_at'])).not.toContain('null')
  } finally {
    relay.server.close()
    relay.server.closeAllConnections()
  }
})
