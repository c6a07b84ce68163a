import type { Command } from 'commander'
import type { Operations } from '../contract/operation.ts'
import type { Context } from './context.ts'

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
      import('./operation-command.ts'),
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
    about: 'Organizations, their credentials and auth codes',
    subgroups: {
      creds: 'API keys and identity provider',
      'auth-code': 'Codes with which people ask to join',
    },
    load: fromTable(async () => (await import('../contract/org.ts')).org),
  },
  user: {
    about: 'Users of an organization',
    subgroups: { pending: 'Users who wait to be accepted', devices: 'Devices with which a user approves' },
    load: fromTable(
      async () => ({
        ...(await import('../contract/user.ts')).user,
        ...(await import('../contract/device.ts')).device,
      }),
      async () => (await import('./approve/enroll.ts')).registerEnroll,
      bulk,
    ),
  },
  geofence: {
    about: 'Places where approvals count, of an organization or a user',
    load: fromTable(
      async () => (await import('../contract/geofence.ts')).geofence,
      async () => {
        const [{ registerRuleCheck }, { geofence }] = await Promise.all([
          import('./rule-check.ts'),
          import('../contract/geofence.ts'),
        ])
        return registerRuleCheck(geofence.checkGeofence)
      },
      bulk,
      async () => (await import('./picture/map-command.ts')).registerMap,
    ),
  },
  timeslot: {
    about: 'Times when approvals count, of an organization or a user',
    load: fromTable(
      async () => (await import('../contract/timeslot.ts')).timeslot,
      async () => {
        const [{ registerRuleCheck }, { timeslot }] = await Promise.all([
          import('./rule-check.ts'),
          import('../contract/timeslot.ts'),
        ])
        return registerRuleCheck(timeslot.checkTimeslot)
      },
      bulk,
      async () => (await import('./picture/week-command.ts')).registerWeek,
    ),
  },
  approve: {
    about: 'Ask a person, wait for the decision, keep and check the proof',
    load: fromTable(
      async () => ({
        ...(await import('../contract/approval.ts')).approval,
        ...(await import('../contract/device.ts')).device,
      }),
      async () => (await import('./commands/approve.ts')).registerApprove,
    ),
  },
  auth: {
    about: 'Verify that a person is who they say they are',
    load: fromTable(
      async () => (await import('../contract/auth.ts')).auth,
      async () => (await import('./commands/auth.ts')).registerAuth,
    ),
  },
  mobile: {
    about: 'What an app on a phone calls',
    load: fromTable(async () => ({
      ...(await import('../contract/mobile.ts')).mobile,
      ...(await import('../contract/account.ts')).account,
    })),
  },
  iot: {
    about: 'Machines that are tied to a stock, and stock prices',
    load: fromTable(async () => (await import('../contract/iot.ts')).iot),
  },
  notify: {
    about: 'Messages to people, and what became of them',
    subgroups: { outbox: 'Messages and what became of them' },
    load: fromTable(
      async () => ({
        ...(await import('../contract/notify.ts')).notify,
        ...(await import('../contract/outbox.ts')).outbox,
      }),
      async () => (await import('./commands/notify.ts')).registerNotify,
    ),
  },
  key: {
    about: 'Named API keys',
    load: fromTable(async () => (await import('../contract/key.ts')).key),
  },
  audit: {
    about: 'What was done, in a hash chain',
    load: fromTable(
      async () => (await import('../contract/audit.ts')).audit,
      async () => (await import('./commands/audit.ts')).registerAudit,
    ),
  },
  export: {
    about: 'Write an organization down as a file',
    load: async () => (await import('./commands/export.ts')).registerExport,
  },
  diff: {
    about: 'Tell what a file and the service differ in',
    load: async () => (await import('./commands/diff.ts')).registerDiff,
  },
  apply: {
    about: 'Make an organization as a file says',
    load: async () => (await import('./commands/apply.ts')).registerApply,
  },
  serve: {
    about: 'Run the service: REST API, keys and contract in one process',
    load: async () => (await import('./commands/serve.ts')).registerServe,
  },
  mcp: {
    about: 'The approval tools on standard input and output, for agents',
    load: async () => (await import('./commands/mcp.ts')).registerMcp,
  },
  service: {
    about: 'Look after the data of a service: backup, restore, migrate, reset-operator-key',
    load: async () => (await import('./commands/service.ts')).registerService,
  },
  profile: {
    about: 'Addresses and keys, by name',
    load: async () => (await import('./commands/profile.ts')).registerProfile,
  },
  api: {
    about: 'Call any route, raw',
    load: async () => (await import('./commands/api.ts')).registerApi,
  },
  whoami: {
    about: 'Show the profile, the address and the key in use',
    load: async () => (await import('./commands/whoami.ts')).registerWhoami,
  },
  doctor: {
    about: 'What works, what does not, and what to type next',
    load: async () => (await import('./commands/doctor.ts')).registerDoctor,
  },
  demo: {
    about: 'The whole story on a throw-away service, nothing to set up',
    load: async () => (await import('./commands/demo.ts')).registerDemo,
  },
  commands: {
    about: 'The whole command tree as JSON',
    load: async () => (await import('./commands/commands.ts')).registerCommands,
  },
  completion: {
    about: 'Completion script for bash, zsh, fish or powershell',
    load: async () => (await import('./commands/completion.ts')).registerCompletion,
  },
  version: {
    about: 'Print the version',
    load: async () => (await import('./commands/version.ts')).registerVersion,
  },
  help: {
    about: 'Explain a topic: exit-codes, environment, formatting, profiles, receipts',
    load: async () => (await import('./commands/help.ts')).registerHelp,
  },
}
