import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { bearer, play, server } from './story.mjs'

const svc = server.command
  ? { transport: 'stdio', ...server }
  : { transport: 'http', url: server.url, headers: bearer }
const client = new MultiServerMCPClient({ mcpServers: { svc }, useStandardContentBlocks: false })
const tools = await client.getTools()
await play({
  list: async () => tools.map(({ name }) => name),
  ask: async (args) => {
    const said = await tools.find(({ name }) => name === 'request_approval').invoke(args)
    const [content] = typeof said === 'string' ? [said] : [said].flat(2)
    return typeof content === 'string' ? content : content.text
  },
  close: () => client.close(),
})
