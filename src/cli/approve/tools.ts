import type { Command } from 'commander'
import type { Context } from '../context/context.ts'

/** `svc approve tools`: what a tool server offers. */
export const registerTools = (group: Command, context: Context): void => {
  const command = group
    .command('tools')
    .description('List the tools of the tool server at SVC_MCP_URL')
    .usage('[flags]')
    .addHelpText('after', '\nExample:\n  SVC_MCP_URL=https://host.example/mcp svc approve tools')

  command.action(async () => {
    const { openTools } = await import('./open-tools.ts')
    const { tools, close } = await openTools(context)
    try {
      const output = await context.output()
      await output.show(
        { status: 'success', message: 'Tools', data: await tools.list() },
        { columns: ['name', 'title', 'description'] },
      )
    } finally {
      await close()
    }
  })
}
