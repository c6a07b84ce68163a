import type { Command } from 'commander'
import type { Operations } from '../contract/operation.ts'
import type { Context } from './context/context.ts'

/** `words` are what was typed: a command that they do not name needs no flags. Without them, everything is built. */
export type Register = (group: Command, context: Context, words?: readonly string[]) => void | Promise<void>
export type Group = {
  about: string
  /** What the group's own subgroups are for. */
  subgroups?: Record<string, string>
  load(): Promise<Register>
}

/** A group whose commands come from the table, and those that are written by hand. */
const fromTable =
  (loadTable: () => Promise<Operations>, ...loadMore: (() => Promise<Register>)[]) =>
  async (): Promise<Register> => {
    const [{ addOperations }, table, ...more] = await Promise.all([
      import('./operation/operation-command.ts'),
      loadTable(),
      ...loadMore.map((load) => load()),
    ])
    return async (group, context, words) => {
      addOperations(group, table, context, words)
      for (const register of more) await register(group, context, words)
    }
  }

const bulk = async (): Promise<Register> => (await import('./bulk/commands.ts')).registerBulk

/** The first word of every command. Only the one that is named is loaded. */
export const groups: Record<string, Group> = {
  org: {
    about: 'Manage organizations, their credentials and auth codes',
    subgroups: {
      creds: 'Show API keys, set the identity provider',
      'auth-code': 'Manage the codes that people join with',
      limits: 'Show and change what an organization may use',
    },
    load: fromTable(async () => ({
      ...(await import('../contract/org.ts')).org,
      ...(await import('../contract/auth-code.ts')).authCode,
      ...(await import('../contract/limits.ts')).limits,
    })),
  },
  user: {
    about: 'Manage users',
    subgroups: {
      pending: 'Accept or reject users who are waiting',
      devices: 'List and revoke the devices of a user',
    },
    load: fromTable(
      async () => ({
        ...(await import('../contract/user.ts')).user,
        ...(await import('../contract/pending-user.ts')).pendingUser,
        ...(await import('../contract/device.ts')).device,
      }),
      async () => (await import('./approve/enroll.ts')).registerEnroll,
      bulk,
    ),
  },
  geofence: {
    about: 'Manage the places where approvals are allowed',
    load: fromTable(
      async () => (await import('../contract/geofence.ts')).geofence,
      async () => {
        const [{ registerRuleCheck }, { geofence }] = await Promise.all([
          import('./operation/rule-check.ts'),
          import('../contract/geofence.ts'),
        ])
        return registerRuleCheck(geofence.checkGeofence)
      },
      bulk,
      async () => (await import('./picture/map-command.ts')).registerMap,
    ),
  },
  timeslot: {
    about: 'Manage the times when approvals are allowed',
    load: fromTable(
      async () => (await import('../contract/timeslot.ts')).timeslot,
      async () => {
        const [{ registerRuleCheck }, { timeslot }] = await Promise.all([
          import('./operation/rule-check.ts'),
          import('../contract/timeslot.ts'),
        ])
        return registerRuleCheck(timeslot.checkTimeslot)
      },
      bulk,
      async () => (await import('./picture/week-command.ts')).registerWeek,
    ),
  },
  approve: {
    about: 'Request approvals, wait for decisions and verify receipts',
    load: fromTable(
      async () => ({
        ...(await import('../contract/approval.ts')).approval,
        ...(await import('../contract/device.ts')).device,
      }),
      async () => (await import('./approve/commands.ts')).registerApprove,
    ),
  },
  auth: {
    about: 'Verify the identity of a person',
    load: fromTable(
      async () => (await import('../contract/auth.ts')).auth,
      async () => (await import('./auth/command.ts')).registerAuth,
    ),
  },
  mobile: {
    about: 'Call the operations of a mobile app',
    load: fromTable(async () => ({
      ...(await import('../contract/mobile.ts')).mobile,
      ...(await import('../contract/account.ts')).account,
    })),
  },
  iot: {
    about: 'Register and check machines, look up stock prices',
    load: fromTable(async () => (await import('../contract/iot.ts')).iot),
  },
  notify: {
    about: 'Send messages and check their delivery',
    subgroups: { outbox: 'Show and retry messages' },
    load: fromTable(
      async () => ({
        ...(await import('../contract/notify.ts')).notify,
        ...(await import('../contract/outbox.ts')).outbox,
      }),
      async () => (await import('./notify.ts')).registerNotify,
    ),
  },
  key: {
    about: 'Manage API keys',
    load: fromTable(
      async () => (await import('../contract/key.ts')).key,
      async () => (await import('./key.ts')).registerRevoke,
    ),
  },
  audit: {
    about: 'Show and verify the audit log',
    load: fromTable(
      async () => (await import('../contract/audit.ts')).audit,
      async () => (await import('./audit.ts')).registerAudit,
    ),
  },
  export: {
    about: 'Export an organization to a file',
    load: async () => (await import('./declare/export-command.ts')).registerExport,
  },
  diff: {
    about: 'Show differences between a file and the service',
    load: async () => (await import('./declare/diff-command.ts')).registerDiff,
  },
  apply: {
    about: 'Apply a file to an organization',
    load: async () => (await import('./declare/apply-command.ts')).registerApply,
  },
  serve: {
    about: 'Run the service',
    load: async () => (await import('./serve/serve-command.ts')).registerServe,
  },
  mcp: {
    about: 'Serve the approval tools to an agent on standard input and output',
    load: async () => (await import('./mcp/command.ts')).registerMcp,
  },
  service: {
    about: 'Back up, restore and maintain the data of a service',
    load: async () => (await import('./serve/service-command.ts')).registerService,
  },
  profile: {
    about: 'Manage profiles: named addresses and keys',
    load: async () => (await import('./profile/commands.ts')).registerProfile,
  },
  api: {
    about: 'Call any route of the service',
    load: async () => (await import('./api/command.ts')).registerApi,
  },
  whoami: {
    about: 'Show the profile, the address and the keys in use',
    load: async () => (await import('./profile/whoami.ts')).registerWhoami,
  },
  doctor: {
    about: 'Check the setup and suggest fixes',
    load: async () => (await import('./doctor/command.ts')).registerDoctor,
  },
  demo: {
    about: 'Show what svc does on a temporary service',
    load: async () => (await import('./demo/command.ts')).registerDemo,
  },
  commands: {
    about: 'Print the command tree as JSON',
    load: async () => (await import('./program/commands-command.ts')).registerCommands,
  },
  completion: {
    about: 'Print the completion script for bash, zsh, fish or powershell',
    load: async () => (await import('./completion/command.ts')).registerCompletion,
  },
  version: {
    about: 'Print the version',
    load: async () => (await import('./program/version-command.ts')).registerVersion,
  },
  help: {
    about: 'Explain a topic: configuration, environment, exit-codes, formatting, profiles, receipts',
    load: async () => (await import('./program/help-command.ts')).registerHelp,
  },
}
