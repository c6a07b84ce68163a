import { SvcError, unexpectedAnswer } from '../../../core/errors.ts'
import { isRecord } from '../../../core/is-record.ts'
import { digestOf } from '../../../receipt/subject.ts'
import type { Fields } from './message.ts'

/** What the server says about a tool, and its digest. */
export type Definition = { sha256: string; description: string }

const mostPages = 100

/** What a model and a person rely on. Icons and `_meta` may change with each answer. */
const shownMembers = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']

const definitionOf = (tool: Fields): Definition => {
  const shown = shownMembers.flatMap((name) => (tool[name] === undefined ? [] : [[name, tool[name]]]))
  const { description } = tool
  return {
    sha256: digestOf(Object.fromEntries(shown)),
    description: typeof description === 'string' ? description : '',
  }
}

const unlisted = (tool: string, times: number): SvcError =>
  new SvcError(
    'refused',
    'unknown_tool',
    times === 0
      ? `The server does not list a tool called "${tool}"`
      : `The server lists ${times} tools called "${tool}"`,
  )

const named = (all: Fields[], tool: string): Fields[] => all.filter(({ name }) => name === tool)

/** `list` sends `tools/list` to the server and returns the result. */
export const createDefinitions = (list: (params: Fields) => Promise<Fields>) => {
  let listed: Promise<Fields[]> | undefined
  let last: Fields[] = []

  const readAll = async (envelope: Fields): Promise<Fields[]> => {
    const all: Fields[] = []
    let cursor: unknown
    for (let page = 0; page < mostPages; page++) {
      const meta = Object.keys(envelope).length > 0 && { _meta: envelope }
      const { tools, nextCursor } = await list({ ...(cursor !== undefined && { cursor }), ...meta })
      if (!Array.isArray(tools)) break
      all.push(...tools.filter(isRecord))
      if (nextCursor === undefined || nextCursor === null) return (last = all)
      cursor = nextCursor
    }
    throw unexpectedAnswer('The server does not answer tools/list with a list of tools')
  }

  const readNow = (envelope: Fields): Promise<Fields[]> => {
    const reading = readAll(envelope)
    listed = reading
    // The next call reads the list again.
    reading.catch(() => (listed = undefined))
    return reading
  }

  return {
    /** As the server describes the tool now. Throws if it does not list the tool once. */
    read: async (tool: string, envelope: Fields): Promise<Definition> => {
      const [one, ...more] = named(await readNow(envelope), tool)
      if (!one || more.length > 0) throw unlisted(tool, one ? more.length + 1 : 0)
      return definitionOf(one)
    },
    /** Throws if the server does not list the tool. May use the last list. */
    requireListed: async (tool: string, envelope: Fields): Promise<void> => {
      if (listed && named(await listed.catch(() => []), tool).length > 0) return
      if (named(await readNow(envelope), tool).length === 0) throw unlisted(tool, 0)
    },
    /** The schema of the arguments of a tool, as it was read last. */
    schemaOf: (tool: string): unknown => named(last, tool)[0]?.['inputSchema'],
    /** The server reported that its list has changed. */
    forget: (): void => void (listed = undefined),
  }
}

export type Definitions = ReturnType<typeof createDefinitions>
