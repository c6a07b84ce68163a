import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { failure, SvcError } from '../../core/errors.ts'

type Child = { command: string; args: string[]; env: Record<string, string> }

const timeout = 15_000

const broken = (problem: string): SvcError =>
  failure('tools_failed', `svc mcp does not work: ${problem}`, 'svc doctor')

/**
 * Starts a tool server as a client would, and calls it: a connection alone does not show that its key works. Throws an
 * SvcError if the tools are missing or refuse the call.
 */
export const checkChildTools = async (child: Child, signal: AbortSignal): Promise<string[]> => {
  const client = new Client({ name: 'svc', version: '1' })
  try {
    await client.connect(new StdioClientTransport({ ...child, stderr: 'ignore' }), { timeout, signal })
    const { tools } = await client.listTools(undefined, { timeout, signal })
    // An unknown request: only a key that the service accepts learns that it does not exist.
    const call = { name: 'check_status', arguments: { request_id: 'apr_svc_mcp_install' } }
    const { content } = await client.callTool(call, { timeout, signal })
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
    // What follows is for a model.
    if (!text.includes('unknown request_id')) throw broken(text.split(' Next: ')[0]!)
    return tools.map(({ name }) => name)
  } catch (error) {
    throw error instanceof SvcError ? error : broken((error as Error).message)
  } finally {
    await client.close().catch(() => undefined)
  }
}
