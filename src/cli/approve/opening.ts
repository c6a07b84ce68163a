import type { Surroundings } from '../../asking/surroundings.ts'
import type { Context } from '../context/context.ts'
import { getJson } from '../context/open-client.ts'
import { sameService } from '../program/command-line.ts'

export type Opening = {
  /**
   * `tools`: the tool server instead of the REST API. `service`: only the REST API. Otherwise the REST API, or the configured
   * tool server if the service has no approvals.
   */
  through?: 'tools' | 'service' | undefined
  /** The organization as typed. */
  org?: string | undefined
  /** The requester, as the approver sees it. */
  requester?: string | undefined
  /** The request must outlive this run: a call of a tool that waits could not be resumed. */
  open?: boolean
  /** The longest time to wait for a silent tool server, in seconds. */
  mostSeconds?: number | undefined
}

export const surroundingsOf = async (context: Context, typed: string | undefined): Promise<Surroundings> => {
  const { io, globals } = context
  const { cacert, org } = await context.settings()
  return {
    now: () => io.now().getTime(),
    getJson: (url) => getJson(context, url, cacert?.value),
    organization: async () => typed ?? org?.value,
    flags: sameService(globals),
  }
}
