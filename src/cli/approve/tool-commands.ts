import type { Command } from 'commander'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'

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
    const { getJson, healthOf } = await import('./public-json.ts')
    const data = await getJson(context, `${origin}/health`, cacert?.value)
    const health = healthOf(data)
    if (health === 'ill')
      throw new SvcError('failed', 'unhealthy', `${origin} reports that it is not healthy`, {
        hint: 'Check its log. svc serve reports this while it cannot write, for example because its disk is full',
      })
    if (health === 'unsaid')
      throw new SvcError('failed', 'unexpected_answer', `${origin}/health does not say whether it is ok`, {
        hint: 'Check the address: svc profile show --explain',
      })
    const output = await context.output()
    await output.show({ status: 'success', message: 'Healthy', data })
  })
}

/** `svc approve tools`: what a tool server offers. */
export const registerTools = (group: Command, context: Context): void => {
  const command = group
    .command('tools')
    .description('List the tools of the tool server at SVC_MCP_URL')
    .usage('[flags]')
    .addHelpText('after', '\nExample:\n  SVC_MCP_URL=https://host.example/mcp svc approve tools')

  command.action(async () => {
    const { withTools } = await import('./tool-server.ts')
    await withTools(context, async ({ tools }) => {
      const output = await context.output()
      await output.show(
        { status: 'success', message: 'Tools', data: await tools.list() },
        { columns: ['name', 'title', 'description'] },
      )
    })
  })
}
