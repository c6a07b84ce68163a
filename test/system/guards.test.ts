import { describe } from 'vitest'
import { tryConfigurations } from './guards/configuration.ts'
import { tryExecSwaps } from './guards/exec-swaps.ts'
import { tryExec } from './guards/exec.ts'
import { tryGit } from './guards/git.ts'
import { whyNot } from './guards/host.ts'
import { tryLies } from './guards/lies.ts'
import { trySsh } from './guards/ssh.ts'
import { installHooks } from './guards/stage.ts'

// The real sudo, sshd and git. One file, because all use /etc/svc, which must not exist yet.

const why = whyNot()
const isCi = process.env.CI === 'true' && why !== 'not root'

describe.skipIf(why !== undefined && !isCi)(
  `guards${why === undefined ? '' : ` (not tried: ${why})`}`,
  () => {
    installHooks(why)
    tryExec()
    tryExecSwaps()
    tryConfigurations()
    tryLies()
    trySsh()
    tryGit()
  },
)
