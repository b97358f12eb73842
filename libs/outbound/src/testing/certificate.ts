import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** A self-signed certificate of `receiver.test` and 127.0.0.1, and its key: nobody trusts it. */
export const selfSigned = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBpzCCAU2gAwIBAgIUVZ7WyViL0f5LzRzpLKS7bMW+4a8wCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNcmVjZWl2ZXIudGVzdDAgFw0yNjExMjExMDM0NDNaGA8yMTI2
MTAyODEwMzQ0M1owGDEWMBQGA1UEAwwNcmVjZWl2ZXIudGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABC5muPiVdKRktGEhghY5LDE7Z8vLVtKK+Aa4m4KXcMmJ
5VA0z+SirfXumpND77U+OOWS7TnyxwR1CtcarKgcYv2jczBxMB0GA1UdDgQWBBQW
3TqsV288KqNJuSRCr/Bctq4+PTAfBgNVHSMEGDAWgBQW3TqsV288KqNJuSRCr/Bc
tq4+PTAPBgNVHRMBAf8EBTADAQH/MB4GA1UdEQQXMBWCDXJlY2VpdmVyLnRlc3SH
BH8AAAEwCgYIKoZIzj0EAwIDSAAwRQIhAIwkbZBGFslxNaagFs/Yr7Z3SA/D5tRe
rmhcHyxxLA53AiBjXZzRrezSjj1eyaqnmym2peUC2eWBUYURIp/3lnvFeA==
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggx4RZwSHW9iTOKtJ
RKqc5a+m7TJ0ETN6B2gpl1vASl2hRANCAAQuZrj4lXSkZLRhIYIWOSwxO2fLy1bS
ivgGuJuCl3DJieVQNM/koq317pqTQ++1Pjjlku058scEdQrXGqyoHGL9
-----END PRIVATE KEY-----`,
}

/** Trusts the certificate in this process until the test, or else the file, is over. */
export function trustSelfSigned(): void {
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, selfSigned.cert])
  whenDone(() => setDefaultCACertificates(trusted))
}
