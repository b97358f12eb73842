import ajvFormats from 'ajv-formats'

const { get } = ajvFormats.default

/**
 * The formats that a form may use. Each is checked in linear time; the e-mail and URI of ajv-formats' full mode are
 * not. Others of ajv-formats, such as `regex`, are left out.
 */
export const FORMATS = {
  date: get('date'),
  time: get('time'),
  'date-time': get('date-time'),
  duration: get('duration'),
  email: get('email', 'fast'),
  hostname: get('hostname'),
  ipv4: get('ipv4'),
  ipv6: get('ipv6'),
  uri: get('uri', 'fast'),
  uuid: get('uuid'),
}
