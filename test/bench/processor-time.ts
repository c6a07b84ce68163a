import { readdirSync, readFileSync } from 'node:fs'

// Linux counts processor time in hundredths of a second.
const seconds = (ticks: number): number => ticks / 100

type Stat = { parent: number; own: number; ended: number }

/** The content of /proc/PID/stat, or undefined if the process is gone. `ended` is the time of its finished children. */
const statOf = (pid: number): Stat | undefined => {
  try {
    const [, rest] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')
    const fields = rest!.split(' ').map(Number)
    return {
      parent: fields[1]!,
      own: seconds(fields[11]! + fields[12]!),
      ended: seconds(fields[13]! + fields[14]!),
    }
  } catch {
    return undefined
  }
}

/** Seconds of processor time of a process, including system calls. */
export const processorTime = (pid: number): number => statOf(pid)?.own ?? Number.NaN

/** Like `processorTime`, for this process and all its descendants. */
const ownTime = (): number => {
  const stats = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    if (stat) stats.set(Number(name), stat)
  }
  const isOurs = (pid: number): boolean =>
    pid === process.pid || (stats.has(pid) && isOurs(stats.get(pid)!.parent))
  let sum = 0
  for (const [pid, { own, ended }] of stats) if (isOurs(pid)) sum += own + ended
  return sum
}

/** The time of all processes, and what the host took for other machines. Interrupts are excluded, because our load causes them. */
const machineTime = (): number => {
  const [, user, nice, system, , , , , steal] = readFileSync('/proc/stat', 'latin1')
    .split('\n', 1)[0]!
    .split(/ +/)
    .map(Number)
  return seconds(user! + nice! + system! + steal!)
}

/** Starts to measure. The result is a function that returns the share of one core that everything else has used since. */
export const watchOthers = (): (() => number) => {
  const began = performance.now()
  const before = machineTime() - ownTime()
  return () => Math.max(0, machineTime() - ownTime() - before) / ((performance.now() - began) / 1000)
}
