import { attempted } from '../../core/attempted.ts'
import { SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { fromUtf8, parseExact } from '../../core/exact-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { ToolCall } from '../approve/tool-call.ts'
import type { Host } from './host.ts'

/** Larger than any call that a person could be asked about. */
const mostBytes = 8 * 1024 * 1024

/** A name that is there twice could be another one for the host. */
const exactJson = (text: string): unknown => attempted(() => parseExact(text))

const unreadable = (host: Host, what: string): SvcError =>
  new SvcError('failed', 'hook_input', `${host.title} sent a hook input that svc cannot read: ${what}`)

/** Copilot has fields in camelCase and does not name the event. */
const fieldsOf = (host: Host, input: Record<string, unknown>) =>
  host.name === 'copilot'
    ? { event: host.event, tool: input['toolName'], arguments: input['toolArgs'], cwd: input['cwd'] }
    : {
        event: input['hook_event_name'],
        tool: input['tool_name'],
        arguments: input['tool_input'],
        cwd: input['cwd'],
      }

/** Reads the JSON that a host writes to its hook. Throws if any part is not as documented. */
export const readCall = (host: Host, bytes: Uint8Array): ToolCall => {
  if (bytes.length > mostBytes) throw unreadable(host, `it is larger than ${mostBytes / 1024 / 1024} MiB`)
  // Other bytes would be shown as another text than the host has.
  const text = attempted(() => fromUtf8(bytes))
  if (text === undefined) throw unreadable(host, 'it is not UTF-8')
  const input = exactJson(text)
  if (!isRecord(input)) throw unreadable(host, 'it is not a JSON object, or has a name twice')
  const { event, tool, arguments: given, cwd } = fieldsOf(host, input)
  if (event !== host.event)
    throw unreadable(
      host,
      `the event is ${typeof event === 'string' ? safeLine(event.slice(0, 80)) : 'missing'}, not ${host.event}`,
    )
  if (typeof tool !== 'string' || tool === '') throw unreadable(host, 'the name of the tool is missing')
  const args = typeof given === 'string' ? exactJson(given) : given
  if (!isRecord(args))
    throw unreadable(host, `the arguments of ${safeLine(tool)} are not an object, or have a name twice`)
  if (cwd !== undefined && typeof cwd !== 'string') throw unreadable(host, 'the folder is not text')
  return { server: host.title, tool, input: args, cwd }
}
