import { afterEach, beforeEach } from 'vitest'
import { json, startFakeHosted, type Answering, type FakeHosted, type Seen } from '../../fake-hosted.ts'
import { openWorkspace, type Workspace } from './workspace.ts'

// An import of users from u.csv into another service.

export let service: FakeHosted
export let workspace: Workspace

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  beforeEach(async () => {
    service = await startFakeHosted()
    workspace = openWorkspace(service.baseUrl)
  })
  afterEach(async () => {
    await service.close()
    workspace.close()
  })
}

const created: Answering = (request, response) =>
  json(200, { status: 'success', message: 'OK', data: { id: Number(serialOf(request)) } })(request, response)
export const refused = (status: number, headers: Record<string, string> = {}): Answering =>
  json(status, { status: 'error', message: `It says ${status}` }, headers)
export const serialOf = ({ body }: Seen): string => (JSON.parse(body) as { mobile: string }).mobile.slice(-3)

export const file = (count: number): void => {
  const rows = Array.from({ length: count }, (_, i) => `+12025550${100 + i},u${i}@b.cc,U,${i}`)
  workspace.put('u.csv', `mobile,email,first_name,last_name\n${rows.join('\n')}\n`)
}
/** Whether svc asks for an approval of all rows. A third-party service has no such route. */
const isBatch = ({ path }: Seen): boolean => path.endsWith('/batches')
export const posts = (): Seen[] =>
  service.seen.filter((request) => request.method === 'POST' && !isBatch(request))
export const respond = (
  answer: (serial: number) => Answering | undefined,
  health: Answering = json(200, { ok: true }),
): void =>
  service.always((request, response) => {
    if (isBatch(request)) return refused(404)(request, response)
    const answering = request.path === '/health' ? health : (answer(Number(serialOf(request))) ?? created)
    return answering(request, response)
  })
export const imports = (flags: string[] = [], options: { signal?: AbortSignal } = {}) =>
  workspace.svc(['user', 'import', 'u.csv', '--org', '7', '-o', 'json', ...flags], options)
