import { readdirSync, readFileSync } from 'node:fs'

// Linux counts processor time in hundredths of a second.
const seconds = (ticks: number): number => ticks / 100

type Stat = { parent: number; own: number; ended: number }

/** What /proc/PID/stat says; undefined once the process is gone. `ended`: of children that it has waited for. */
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

/** Seconds of processor time that a process has used, its system calls included. */
export const processorTime = (pid: number): number => statOf(pid)?.own ?? Number.NaN

/** As `processorTime`, of this process and everything that it started. */
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

/** All processes together, and what the host of a virtual machine took for others. Interrupts are left out: our own load makes them. */
const machineTime = (): number => {
  const [, user, nice, system, , , , , steal] = readFileSync('/proc/stat', 'latin1')
    .split('\n', 1)[0]!
    .split(/ +/)
    .map(Number)
  return seconds(user! + nice! + system! + steal!)
}

/** Starts to watch; the answer tells which share of one core everything else has used since. */
export const watchOthers = (): (() => number) => {
  const began = performance.now()
  const before = machineTime() - ownTime()
  return () => Math.max(0, machineTime() - ownTime() - before) / ((performance.now() - began) / 1000)
}
