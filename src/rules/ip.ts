import { contains, readAddress, readNetwork } from './network.ts'
import { cannotTell, fail, notApplicable, pass, type Verdict } from './verdict.ts'

/** Requires an address in one of the networks (CIDR). An entry that is not valid contains nothing. */
export const checkIp = (ipAllow: readonly string[], ip: unknown): Verdict => {
  if (ipAllow.length === 0) return notApplicable('no allowed networks are configured')
  if (ip === undefined || ip === null) return cannotTell('no IP address was provided')
  const address = readAddress(ip)
  if (!address) return cannotTell('the IP address cannot be read')
  const networks = [...ipAllow].sort()
  const match = networks.find((entry) => {
    const network = readNetwork(entry)
    return network !== undefined && contains(network, address)
  })
  const observed = { ip: address.toString() }
  if (match !== undefined) return pass(`${observed.ip} is in ${match}`, { networks: [match] }, observed)
  const [first] = networks
  const where =
    networks.length === 1 ? `not in ${first}` : `in none of the ${networks.length} allowed networks`
  return fail(`${observed.ip} is ${where}`, { networks }, observed)
}
