import type { GuardConfig } from './config.ts'

/** What to paste, and where. */
export type Lines = { file: string; lines: string[] }

/** The lines that start each guard of the configuration, with a clean environment and without a flag of the caller. */
export const linesFor = (config: Pick<GuardConfig, 'exec' | 'ssh' | 'git'>, launcher: string): Lines[] => [
  ...(config.exec
    ? [
        {
          file: '/etc/sudoers.d/svc-guard (with visudo -f)',
          lines: [
            `Cmnd_Alias SVC_GUARD = ${launcher} exec -- *`,
            'Defaults!SVC_GUARD env_reset, !setenv',
            '%ops ALL = (root) NOPASSWD: SVC_GUARD',
          ],
        },
      ]
    : []),
  ...(config.ssh
    ? [
        {
          file: '/etc/ssh/authorized_keys/ACCOUNT (root-owned; AuthorizedKeysFile /etc/ssh/authorized_keys/%u)',
          lines: [`restrict,pty,command="${launcher} ssh --as alice" ssh-ed25519 AAAA… alice`],
        },
      ]
    : []),
  ...(config.git
    ? [
        {
          file: 'hooks/pre-receive of the repository (root-owned, mode 755)',
          lines: ['#!/bin/sh', `exec ${launcher} git`],
        },
      ]
    : []),
]
