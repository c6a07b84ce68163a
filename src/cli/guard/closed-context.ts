import { createContext, type ApprovalGuard, type Context } from '../context/context.ts'
import { createKeyReader } from '../context/api-key.ts'
import type { Settings } from '../context/settings.ts'
import type { Io } from '../terminal/io.ts'
import type { GuardConfig } from './config.ts'
import { readRootFile } from './root-file.ts'

/** The configuration decides what is held back, and no profile. */
const noGuard: ApprovalGuard = {
  requireApproved: async () => undefined,
  approveTogether: async (rows) => ({ approvals: rows.map(() => undefined), existing: new Set() }),
  guard: (client) => client,
  approval: () => undefined,
}

const setting = (value: string) => ({ value, source: 'default' as const })

const settingsOf = (config: GuardConfig): Settings => {
  const { service, organization, cacert, key_file: file } = config
  // Checked here, and again by whoever opens it: nobody but root can replace it in between.
  if (cacert !== undefined) readRootFile(cacert, { what: 'CA' })
  return {
    profile: setting('guard'),
    baseUrl: setting(service),
    org: setting(organization),
    cacert: cacert === undefined ? undefined : setting(cacert),
    protected: false,
    requireApproval: [],
    apiKey: createKeyReader(
      {
        where: `in ${file}`,
        origin: new URL(service).origin,
        read: async () => readRootFile(file, { what: 'ask key', isSecret: true }).trim(),
      },
      'guard',
      'ask key',
    ),
    keyHint: `Check the key in ${file}: sudo svc guard check`,
    askKeyHint: `Check the key in ${file}: sudo svc guard check`,
    bearer: async () => undefined,
    keySources: {},
  }
}

/** A context in which nothing comes from the caller: no variable, no profile, no proxy, no folder. */
export const closedContext = (config: GuardConfig, io: Io): Context & { close(): Promise<void> } => {
  const settings = settingsOf(config)
  const context = createContext({ ...io, env: {}, cwd: '/' }, () => noGuard)
  context.settings = async () => settings
  return context
}
