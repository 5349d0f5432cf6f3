import { VisuallyHidden } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'

const INTERVAL_MS = 3_000

/** Announces a changing text to screen readers, at most once per interval. */
export function Announcement({ text }: { text: string }) {
  const [announced, setAnnounced] = useState(text)
  const latest = useRef(text)
  useEffect(() => {
    latest.current = text
  }, [text])
  useEffect(() => {
    const timer = setInterval(() => setAnnounced(latest.current), INTERVAL_MS)
    return () => clearInterval(timer)
  }, [])
  return <VisuallyHidden role="status">{announced}</VisuallyHidden>
}
