import type { Command } from 'commander'
import { createApprovalGuard } from './approve/approval-guard.ts'
import { type Context, createContext } from './context/context.ts'
import { fromTable } from './operation/from-table.ts'
import { buildProgram, registerCommands, runLine, type Group, type Tree } from './program/program.ts'
import type { RunLine } from './program/define-command.ts'
import type { Io } from './terminal/io.ts'

/** The first word of every command. svc loads only the group in use. */
export const groups: Record<string, Group> = {
  org: {
    about: 'Manage organizations, their credentials and auth codes',
    subgroups: {
      creds: 'Show API keys, set the identity provider',
      'auth-code': 'Manage the codes that people use to join',
      limits: 'Show and change the limits of an organization',
    },
    load: fromTable(
      async () => ({
        ...(await import('../contract/org.ts')).org,
        ...(await import('../contract/auth-code.ts')).authCode,
        ...(await import('../contract/limits.ts')).limits,
      }),
      { extend: async () => (await import('./extension/org.ts')).orgExtensions },
    ),
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
        ...(await import('../contract/away.ts')).away,
        ...(await import('../contract/pending-user.ts')).pendingUser,
        ...(await import('../contract/device.ts')).device,
      }),
      {
        extend: async () => {
          const { enrollment } = await import('./approve/enroll.ts')
          const { userExtensions } = await import('./extension/leaving.ts')
          return new Map([...enrollment, ...userExtensions])
        },
        more: async () => (await import('./bulk/commands.ts')).registerBulk,
      },
    ),
  },
  geofence: {
    about: 'Manage the places where approvals are allowed',
    load: fromTable(async () => (await import('../contract/geofence.ts')).geofence, {
      extend: async () => (await import('./operation/rule-check.ts')).ruleChecks,
      more: async () => (await import('./picture/commands.ts')).registerMap,
    }),
  },
  timeslot: {
    about: 'Manage the times when approvals are allowed',
    load: fromTable(async () => (await import('../contract/timeslot.ts')).timeslot, {
      extend: async () => (await import('./operation/rule-check.ts')).ruleChecks,
      more: async () => (await import('./picture/commands.ts')).registerWeek,
    }),
  },
  group: {
    about: 'Manage groups of approvers',
    load: fromTable(async () => (await import('../contract/group.ts')).group, {
      extend: async () => (await import('./extension/leaving.ts')).groupExtensions,
    }),
  },
  rule: {
    about: 'Manage and test the rules about who must approve what',
    load: fromTable(async () => (await import('./extension/rule.ts')).ruleOperations, {
      extend: async () => (await import('./extension/rule.ts')).ruleTable,
      more: async () => (await import('./extension/rule-test.ts')).registerRuleTest,
    }),
  },
  approve: {
    about: 'Request approvals, wait for decisions and verify receipts',
    subgroups: { mutes: 'List and delete the mutes of requesters that approvers reported' },
    load: fromTable(
      async () => ({
        ...(await import('../contract/approval.ts')).approval,
        ...(await import('../contract/batch.ts')).batch,
        ...(await import('../contract/review.ts')).review,
        ...(await import('../contract/device.ts')).device,
        ...(await import('../contract/mute.ts')).mute,
      }),
      {
        extend: async () => (await import('./approve/commands.ts')).eitherWay,
        first: async () => (await import('./approve/commands.ts')).registerFirst,
        more: async () => (await import('./approve/commands.ts')).registerApprove,
      },
    ),
  },
  grant: {
    about: 'List and end what approvers allowed again for a while',
    load: fromTable(async () => (await import('../contract/grant.ts')).grant, {
      extend: async () => (await import('./extension/grant.ts')).grantTable,
    }),
  },
  auth: {
    about: 'Verify the identity of a person',
    load: fromTable(async () => (await import('../contract/auth.ts')).auth, {
      extend: async () => (await import('./extension/auth.ts')).verifications,
    }),
  },
  mobile: {
    about: 'Call the operations of a mobile app',
    load: fromTable(async () => ({
      ...(await import('../contract/mobile.ts')).mobile,
      ...(await import('../contract/account.ts')).account,
    })),
  },
  iot: {
    about: 'Manage and check machines, look up stock prices',
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
      { extend: async () => (await import('./extension/notify.ts')).deliveries },
    ),
  },
  key: {
    about: 'Manage API keys',
    load: fromTable(async () => (await import('../contract/key.ts')).key, {
      extend: async () => (await import('./extension/revocation.ts')).keyExtensions,
    }),
  },
  audit: {
    about: 'Show and verify the audit log',
    load: fromTable(async () => (await import('../contract/audit.ts')).audit, {
      extend: async () => (await import('./events/audit.ts')).auditExtensions,
      more: async () => (await import('./events/audit.ts')).registerAudit,
    }),
  },
  events: {
    about: 'Follow what happens in an organization',
    load: fromTable(async () => (await import('../contract/event.ts')).events, {
      more: async () => (await import('./events/tail.ts')).registerTail,
    }),
  },
  webhook: {
    about: 'Send events to other systems',
    load: fromTable(async () => (await import('../contract/webhook.ts')).webhook),
  },
  export: {
    about: 'Export an organization to a file',
    load: async () => (await import('./declare/commands.ts')).registerExport,
  },
  diff: {
    about: 'Show differences between a file and the service',
    load: async () => (await import('./declare/commands.ts')).registerDiff,
  },
  apply: {
    about: 'Apply a file to an organization',
    load: async () => (await import('./declare/commands.ts')).registerApply,
  },
  serve: {
    about: 'Run the service',
    load: async () => (await import('./serve/serve-command.ts')).registerServe,
  },
  mcp: {
    about: 'Serve the approval tools to an agent on standard input and output',
    load: async () => (await import('./mcp/command.ts')).registerMcp,
  },
  hook: {
    about: 'Hold the tool calls of an agent until a person approves them',
    load: async () => (await import('./hook/commands.ts')).registerHook,
  },
  guard: {
    about: 'Hold back sudo, SSH and git on this machine until a person approves',
    load: async () => (await import('./guard/commands.ts')).registerGuard,
  },
  top: {
    about: 'Watch requests, decisions, notifications and nodes',
    load: async () => (await import('./top/command.ts')).registerTop,
  },
  service: {
    about: 'Back up, restore and maintain the data of a service, and list its nodes',
    load: fromTable(async () => (await import('../contract/node.ts')).node, {
      more: async () => (await import('./serve/service-command.ts')).registerService,
    }),
  },
  profile: {
    about: 'Manage profiles: named addresses and keys',
    load: async () => (await import('./profile/commands.ts')).registerProfile,
  },
  api: {
    about: 'Call any route of the service',
    load: async () => (await import('./operation/api.ts')).registerApi,
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
    load: async () => registerCommands,
  },
  completion: {
    about: 'Print the completion script for bash, zsh or fish',
    load: async () => (await import('./completion/command.ts')).registerCompletion,
  },
  help: {
    about: 'Explain a topic: configuration, environment, exit-codes, formatting',
    load: async () => (await import('./program/help-topics.ts')).registerHelp,
  },
}

/** The context of one run, which asks for an approval where a write needs one. */
export const openContext = (io: Io): ReturnType<typeof createContext> =>
  createContext(io, createApprovalGuard)

/** Runs one command and returns its result. */
export const run: RunLine = (argv, io) => runLine(argv, openContext(io), tree)

const tree: Tree = { groups, run }

/** The branch of the command tree that `argv` names, or without `argv` the whole tree. */
export const commandTree = (context: Context, argv?: readonly string[]): Promise<Command> =>
  buildProgram(context, tree, argv)
