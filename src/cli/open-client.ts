import type { Client } from '../client/client.ts'
import { createClient } from '../client/rest.ts'
import { createTransport } from '../client/undici-transport.ts'
import { usageError } from '../core/errors.ts'
import { readAtMost } from '../core/read-at-most.ts'
import { safeLine } from '../core/safe-text.ts'
import type { Globals } from './context.ts'
import type { Io } from './io.ts'
import type { Settings } from './profile/settings.ts'

const mostCaBytes = 4 * 1024 * 1024

export const readCa = (file: string): string => {
  let bytes: Buffer | undefined
  try {
    bytes = readAtMost(file, mostCaBytes)
  } catch {
    // As one that is too large.
  }
  if (!bytes) throw usageError(`Cannot read the CA file ${file}`, '--cacert FILE must be a PEM file')
  return bytes.toString('utf8')
}

/** A transport without any credential; `cacert` names a file with the CA to trust. */
export const openTransport = (io: Io, cacert: string | undefined): ReturnType<typeof createTransport> =>
  createTransport({ env: io.env, ca: cacert === undefined ? undefined : readCa(cacert) })

/** The client of this run: its address, key, proxy and CA from the settings. */
export const openClient = (
  io: Io,
  globals: Globals,
  settings: Settings,
  approval?: () => string | undefined,
): Client => {
  const transport = openTransport(io, settings.cacert?.value)
  return createClient({
    baseUrl: settings.baseUrl.value,
    keyHint: settings.keyHint,
    apiKey: (url) => settings.apiKey(url),
    transport,
    approval,
    debug: globals.debug ? (line) => io.stderr.write(`${safeLine(line)}\n`) : undefined,
  })
}
