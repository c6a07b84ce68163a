import { version as number } from '../../../package.json'

/** The build replaces it; the sources have none. */
declare const SVC_COMMIT: string | undefined

const commit = typeof SVC_COMMIT === 'undefined' ? '' : SVC_COMMIT

/** Two builds of one version are told apart by their commit. */
export const build = { number, commit }

export const version = commit ? `${number} (${commit})` : number
