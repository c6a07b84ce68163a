import type { Command } from 'commander'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context.ts'

/** `svc approve health`: whether the tool server is there; no credential is needed and none is sent. */
export const registerHealth = (group: Command, context: Context): void => {
  const command = group
    .command('health')
    .description('Check the health of the tool server')
    .usage('[flags]')
    .addHelpText('after', '\nExample:\n  svc approve health')

  command.action(async () => {
    const { mcpUrl, baseUrl, cacert } = await context.settings()
    const { origin } = new URL(mcpUrl?.value ?? baseUrl.value)
    const { getJson } = await import('./get-json.ts')
    const data = await getJson(context, `${origin}/health`, cacert?.value)
    if (typeof data !== 'object' || data === null || (data as { ok?: unknown }).ok !== true)
      throw new SvcError('failed', 'unhealthy', `${origin} reports that it is not healthy (ok is not true)`, {
        hint: 'A service of svc says so while it cannot write: check its disk and its log',
      })
    const output = await context.output()
    await output.show({ status: 'success', message: 'Healthy', data })
  })
}
