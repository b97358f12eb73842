import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate in PEM, with its private key. */
export interface TestCertificate {
  readonly certificate: string
  readonly key: string
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']

/** Makes an authority and a certificate that it signs for servers on 127.0.0.1, by openssl. */
export function testAuthority(): { readonly ca: string; readonly server: TestCertificate } {
  const directory = mkdtempSync(join(tmpdir(), 'authority-'))
  const file = (name: string) => join(directory, name)
  const request = (name: string, ...more: string[]) =>
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        ...KEY,
        '-keyout',
        file(`${name}.key`),
        '-out',
        file(`${name}.crt`),
        '-subj',
        `/CN=${name}`,
        ...more,
      ],
      { stdio: 'pipe' },
    )
  try {
    request('authority')
    const signedBy = ['-CA', file('authority.crt'), '-CAkey', file('authority.key')]
    request(
      'server',
      ...signedBy,
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-addext',
      'basicConstraints=critical,CA:FALSE',
    )
    const text = (name: string) => readFileSync(file(name), 'utf8')
    return { ca: text('authority.crt'), server: { certificate: text('server.crt'), key: text('server.key') } }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
