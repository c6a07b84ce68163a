import { SvcError, usageError } from './errors.ts'
import { safeLine } from './safe-text.ts'

/** Host and port, never a path or a user name. */
export const hostOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url)
  return `${safeLine(hostname)}:${port || (protocol === 'https:' ? 443 : 80)}`
}

const unreachable = (
  code: string,
  message: string,
  hint: string,
  cause?: unknown,
  detail?: string,
): SvcError => new SvcError('unreachable', code, message, { hint, cause, detail })

/** `what`: `a connection`, `an answer` or `the end of the answer`. */
export const timedOut = (url: string, what: string, seconds: number): SvcError =>
  unreachable(
    'timed_out',
    `Waited ${seconds} s for ${what} from ${hostOf(url)}`,
    'The service may be overloaded, or a firewall may block it. Check the address: svc profile show --explain',
  )

const tlsCodes =
  /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|UND_ERR_PRX_TLS|HOSTNAME)/

/** Without what Node 24 advises whoever starts it; svc has flags for that. */
export const withoutNodesAdvice = (text: string): string =>
  text.replace(/; if the root CA is installed locally.*/, '')

/** The reason in OpenSSL's text: `…:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:…`. */
const tlsReason = (error: Error): string => {
  const { reason } = error as { reason?: unknown }
  if (typeof reason === 'string') return reason
  const [, rest = ''] = error.message.split(':error:')
  return rest.split(':')[3] ?? withoutNodesAdvice(error.message)
}

const tlsFailed = (host: string, code: string, error: Error): SvcError => {
  const reason = tlsReason(error)
  const noTls = /wrong version number|packet length too long|record layer failure|http request/i.test(reason)
  return unreachable(
    'tls_failed',
    noTls ? `The server at ${host} does not speak TLS` : `No secure connection to ${host}`,
    noTls
      ? `If the service uses plain http, its address starts with http://${host}`
      : code === 'ERR_TLS_CERT_ALTNAME_INVALID'
        ? 'The certificate is for another host. Check the address: svc profile show --explain'
        : code === 'CERT_HAS_EXPIRED'
          ? 'Renew the certificate of the service. If it is still valid, check the clock of this machine'
          : 'For a private certificate authority: --cacert FILE',
    error,
    noTls ? undefined : safeLine(`${code}: ${reason}`),
  )
}

const dnsCodes = /^(?:ENOTFOUND|EAI_)/
const connectCodes = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/

const socketError = (url: string, code: string, error: Error): SvcError => {
  const host = hostOf(url)
  if (connectCodes.test(code))
    return unreachable(
      'connection_refused',
      `Nothing answers at ${host}`,
      'Check that it is running: svc serve starts a service here. SVC_BASE_URL names another one; svc profile show --explain shows the address',
      error,
    )
  if (dnsCodes.test(code))
    return unreachable(
      'dns_failed',
      `The host name ${host} was not found`,
      'Check the address: svc profile show --explain',
      error,
    )
  if (error.name === 'HTTPParserError')
    return unreachable(
      'not_http',
      `The server at ${host} does not speak ${url.startsWith('https:') ? 'HTTPS' : 'HTTP'}`,
      'Check the scheme (http or https) of the address: svc profile show --explain',
      error,
    )
  return unreachable(
    'connection_cut',
    `The connection to ${host} ended before the answer was complete`,
    'Try again. If it was a write, check first whether it was done',
    error,
  )
}

/** Turns an error of undici, the socket or TLS into one for people. `proxy` is the address of the proxy, if any. */
export const networkError = (error: Error, url: string, proxy?: string): SvcError => {
  if (error instanceof SvcError) return error
  const code = String((error as { code?: unknown }).code ?? '')
  const host = hostOf(url)
  if (tlsCodes.test(code)) return tlsFailed(host, code, error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new SvcError('failed', 'answer_too_large', `The answer from ${host} is larger than 64 MiB`, {
      hint: 'Request fewer rows: --limit 1000',
      cause: error,
    })
  if (code === 'UND_ERR_INVALID_ARG')
    return usageError(
      'The key or a header contains characters that HTTP does not allow',
      'Sign in again: svc profile login. Or save the key again: svc profile login --with-key',
    )
  const atProxy =
    proxy &&
    (connectCodes.test(code) ||
      dnsCodes.test(code) ||
      /^UND_ERR_(?:ABORTED|CONNECT_TIMEOUT|HEADERS_TIMEOUT)$/.test(code))
  if (atProxy)
    return unreachable(
      'proxy_failed',
      `The proxy ${hostOf(proxy)} does not connect to ${host}`,
      `Check HTTPS_PROXY, or exclude this host: NO_PROXY=${host.replace(/:\d+$/, '')}`,
      error,
      safeLine(error.message),
    )
  return socketError(url, code, error)
}
