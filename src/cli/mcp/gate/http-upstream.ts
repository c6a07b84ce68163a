import { openMessagePost } from '../../../tools/client/message-post.ts'
import { hostOf, withoutNodesAdvice } from '../../../core/network-error.ts'
import { usageError } from '../../../core/errors.ts'
import { isLoopbackHost } from '../../../core/loopback.ts'
import { safeLine } from '../../../core/safe-text.ts'
import { readPrivate } from '../../context/private-file.ts'
import { errorLine, serverError } from './answers.ts'
import type { Id } from './message.ts'
import type { OnMessage, Upstream } from './upstream.ts'

/** The address of a server. Credentials belong in the file of --header-file. */
export const checkUpstreamUrl = (text: string): URL => {
  const example = 'Example: --url https://mcp.example.com/mcp'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw usageError(`--url is not a valid address: "${text}"`, example)
  if (url.username || url.password)
    throw usageError(
      '--url must not contain a user name or password',
      'Put the credentials into a file: --header-file FILE',
    )
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw usageError(`--url must start with https://, because ${url.host} is another machine`, example)
  return url
}

/** The headers in a private file, one on each line: `Authorization: Bearer …`. Errors never repeat its content. */
export const readHeaders = (file: string): Record<string, string> => {
  const text = readPrivate(file, 'file')
  const example = 'A line of it is, for example: Authorization: Bearer TOKEN'
  if (text === undefined) throw usageError(`--header-file: ${file} does not exist`, example)
  const lines = text.split('\n').map((line) => line.trim())
  const headers = lines.flatMap((line, at): [string, string][] => {
    if (line === '' || line.startsWith('#')) return []
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*([\x21-\x7e][\x20-\x7e]*)$/.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw usageError(`--header-file: line ${at + 1} of ${file} is not a header`, example)
    return [[name, value]]
  })
  return Object.fromEntries(headers)
}

/** Why Node does not trust a certificate whose authority it does not know. */
const isUntrusted = /self-signed certificate|unable to (?:verify|get)\b/

type Reaching = {
  url: URL
  headers: Record<string, string>
  /** Certificate authorities to trust, PEM. */
  ca: string | undefined
  note(text: string): void
}

/** Reaches a server over streamable HTTP. */
export const reachServer = ({ url, headers, ca, note }: Reaching, onMessage: OnMessage): Upstream => {
  const emit = (line: string): void => onMessage(Buffer.from(line))
  const opening = openMessagePost({
    url,
    headers,
    ca,
    onMessage: (message) => emit(JSON.stringify(message)),
    onFailure: (id, what) => {
      const text = `${hostOf(url.href)} ${safeLine(withoutNodesAdvice(what).slice(0, 400))}`
      note(
        isUntrusted.test(what) ? `${text}. For a private certificate authority: --server-cacert FILE` : text,
      )
      const outcome = 'It is not known whether it was carried out.'
      if (id !== undefined) emit(errorLine(id as Id, serverError, `${text}. ${outcome}`))
    },
  })
  let end: (reason: string) => void
  const ended = new Promise<string>((resolve) => (end = resolve))
  return {
    send: (bytes, fields, more) => void opening.then((post) => post.send(bytes, fields, more)),
    ended,
    finish: async () => {
      await (await opening).close()
      end('was disconnected')
    },
  }
}
