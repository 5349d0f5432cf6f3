/** Certificates for tests: self-signed, for localhost and 127.0.0.1, encoded here because no tool for it is everywhere. */
import { createSign, generateKeyPairSync } from 'node:crypto'

export interface TestCertificate {
  /** PEM. */
  cert: string
  key: string
}

/** Fresh P-256 certificate and key. @param expiresAt in milliseconds since 1970, to the second */
export function createCertificate(name: string, expiresAt: number): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = sequence(set(sequence(oid(0x55, 4, 3), tlv(0x0c, Buffer.from(name)))))
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2))
  const names = sequence(tlv(0x82, Buffer.from('localhost')), tlv(0x87, Buffer.from([127, 0, 0, 1])))
  const body = sequence(
    tlv(0xa0, tlv(2, Buffer.from([2]))),
    tlv(2, Buffer.from([1])),
    algorithm,
    subject,
    sequence(time(Date.UTC(2020, 0, 1)), time(expiresAt)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(sequence(oid(0x55, 0x1d, 0x11), tlv(4, names)))),
  )
  const signature = createSign('sha256').update(body).sign(privateKey)
  const der = sequence(body, algorithm, tlv(3, Buffer.concat([Buffer.from([0]), signature])))
  const lines = der.toString('base64').replaceAll(/.{64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** An element of DER: tag, length, content. */
function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => tlv(0x30, Buffer.concat(parts))
const set = (...parts: Buffer[]) => tlv(0x31, Buffer.concat(parts))
const oid = (...bytes: number[]) => tlv(6, Buffer.from(bytes))
const time = (ms: number) => tlv(0x18, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`))
