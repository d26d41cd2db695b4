-- The span in which it began (W3C Trace Context), to which the traces of what happens later link.
ALTER TABLE payout ADD COLUMN traceparent TEXT;
ALTER TABLE outbox_message ADD COLUMN traceparent TEXT;
ALTER TABLE event ADD COLUMN traceparent TEXT;
