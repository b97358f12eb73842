import { execFileSync } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate in PEM, with its private key. */
export interface TestCertificate {
  readonly certificate: string
  readonly key: string
}

/** Makes an authority and a certificate that it signs for servers on 127.0.0.1, by openssl. */
export function testAuthority(): { readonly ca: string; readonly server: TestCertificate } {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'authority-'))
  const request = (name: string, options = '') => {
    const files = `-keyout ${name}.key -out ${name}.crt -subj /CN=${name}`
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'
    const args = `req -x509 ${key} ${files} ${options}`.trim().split(' ')
    execFileSync('openssl', args, { cwd: folder.path, stdio: 'pipe' })
  }
  request('authority')
  const extensions = '-addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE'
  request('server', `-CA authority.crt -CAkey authority.key ${extensions}`)
  const text = (name: string) => readFileSync(join(folder.path, name), 'utf8')
  return { ca: text('authority.crt'), server: { certificate: text('server.crt'), key: text('server.key') } }
}
