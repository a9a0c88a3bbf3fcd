@extends('layout')

@section('content')
<p>You are about to leave for {{ $host }}.</p>
<a rel="noopener nofollow" href="{{ $target }}">Continue</a>
@endsection
