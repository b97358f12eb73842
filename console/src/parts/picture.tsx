interface PictureProps {
  /** Of somebody else: anything but a web address is not loaded. */
  readonly url: string | null | undefined
  /** What it shows; empty where the words beside it say so. */
  readonly alt?: string
  readonly isLarge?: boolean
}

/** A picture of a product; a grey field without one. */
export function Picture({ url, alt = '', isLarge = false }: PictureProps) {
  const className = isLarge ? 'thumb large' : 'thumb'
  const isWeb = url && ['https:', 'http:'].includes(URL.parse(url, location.href)?.protocol ?? '')
  return isWeb ? <img className={className} src={url} alt={alt} loading="lazy" /> : <span className={className} />
}
