import { execFileSync } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate in PEM, with its private key. */
export interface TestCertificate {
  readonly certificate: string
  readonly key: string
}

/** An authority and what it signs for servers on 127.0.0.1: a certificate, and one that is out of date. */
interface TestAuthority {
  readonly ca: string
  readonly server: TestCertificate
  readonly expired: TestCertificate
}

/** Makes an authority, by openssl. */
export function testAuthority(): TestAuthority {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'authority-'))
  const openssl = (args: string) => execFileSync('openssl', args.trim().split(' '), { cwd: folder.path, stdio: 'pipe' })
  const request = (name: string, options = '') => {
    const files = `-keyout ${name}.key -out ${name}.crt -subj /CN=${name}`
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'
    openssl(`req -x509 ${key} ${files} ${options}`)
  }
  request('authority')
  const extensions = '-addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE'
  const signed = '-CA authority.crt -CAkey authority.key'
  request('server', `${signed} ${extensions}`)
  openssl('req -new -key server.key -subj /CN=server -out expired.csr')
  openssl(`x509 -req -in expired.csr ${signed} -days -1 -out expired.crt`)
  const text = (name: string) => readFileSync(join(folder.path, name), 'utf8')
  const key = text('server.key')
  return {
    ca: text('authority.crt'),
    server: { certificate: text('server.crt'), key },
    expired: { certificate: text('expired.crt'), key },
  }
}
