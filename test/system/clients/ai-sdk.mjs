import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as Stdio } from '@ai-sdk/mcp/mcp-stdio'
import { bearer, play, server, textOf } from './story.mjs'

const transport = server.command ? new Stdio(server) : { type: 'http', url: server.url, headers: bearer }
const client = await createMCPClient({ transport })
const tools = await client.tools()
await play({
  list: async () => Object.keys(tools),
  ask: async (args) => textOf(await tools.request_approval.execute(args, { toolCallId: '1', messages: [] })),
  close: () => client.close(),
})
